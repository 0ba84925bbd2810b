/** Works out what a policy means on this disk at this moment: real paths of things that exist, ready to be mounted. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { fsPath } from "../../system/path-bytes.js";
import { isWithin, outermost } from "../../system/within.js";
import { existingSecrets, type Hidden } from "../command-home/usual-secrets.js";
import { findGuards, type Guards } from "./guards.js";
import { type OwnCaches, type PrivateHome, SandboxError, type SandboxPolicy } from "./policy.js";

export interface HiddenPlace extends Hidden {
  /** Something in it must stay reachable, so it has search permission. */
  readonly passable: boolean;
}

export interface Layout {
  readonly writable: readonly string[];
  readonly guards: Guards;
  /** Hidden folders around a writable one: they are mounted before it. */
  readonly covering: readonly HiddenPlace[];
  /** The other hidden places are mounted last, so that no earlier mount uncovers one of them. */
  readonly hidden: readonly HiddenPlace[];
  readonly visible: readonly string[];
  /** Secret files and folders of the workspace, covered with a note or with an empty folder. */
  readonly masked: readonly Hidden[];
  /** The home folder of the sandbox's own, with what exists of it. */
  readonly home?: PrivateHome | undefined;
  readonly caches?: OwnCaches | undefined;
}

export interface LayoutOptions {
  /** Whether the command writes into the folders directly. */
  readonly access: "direct" | "held";
  /** To be hidden with those of the policy. */
  readonly alsoHidden?: readonly string[];
  /** Secret files and folders of the workspace, free of links. */
  readonly secrets?: readonly string[] | undefined;
}

export function findLayout(policy: SandboxPolicy, { access, alsoHidden = [], secrets = [] }: LayoutOptions): Layout {
  const writable = policy.writable.map(realFolder);
  const visible = policy.visible.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  const home = policy.home && existingHome(policy.home);
  const caches = home ?? policy.caches;
  const shown = [
    ...[...writable, ...visible],
    ...(home === undefined ? [] : [home.path]),
    ...(caches === undefined ? [] : [caches.cache]),
  ];
  const hidden = existingSecrets([...policy.hidden, ...alsoHidden])
    .filter(({ path }) => home === undefined || !isCovered(path, home, writable))
    .map((place) => ({ ...place, passable: shown.some((path) => isWithin(path, place.path)) }));
  const laidOver = home === undefined ? writable : [...writable, home.path];
  const isCovering = ({ path }: Hidden) => laidOver.some((folder) => isWithin(folder, path));
  const whole = hidden.find(({ path }) => writable.includes(path));
  if (whole !== undefined) {
    throw new SandboxError(`${whole.path} is a hidden folder and cannot be the workspace. Work in another folder.`);
  }
  const { readOnlyWithin: names, repositories } = policy;
  return {
    writable,
    guards: findGuards({ roots: writable, names, repositories, access }),
    covering: hidden.filter(isCovering),
    hidden: hidden.filter((place) => !isCovering(place)),
    visible,
    masked: secrets.flatMap(asMasked).filter(({ path }) => !hidden.some((place) => place.path === path)),
    home,
    caches,
  };
}

function asMasked(path: string): readonly Hidden[] {
  try {
    return [{ path, kind: statSync(fsPath(path)).isDirectory() ? "folder" : "file" }];
  } catch {
    // It is gone, or nothing can reach it.
    return [];
  }
}

/** No command line can name a place whose name is not UTF-8: the folder around it is covered. */
export function nameable(places: readonly Hidden[]): readonly Hidden[] {
  const all = new Map<string, Hidden>();
  for (const { path, kind } of places) {
    const names = path.split("/");
    const odd = names.findIndex((name) => !name.isWellFormed());
    const way = odd === -1 ? path : names.slice(0, odd).join("/");
    all.set(way, { path: way, kind: odd === -1 ? kind : "folder" });
  }
  return [...all.values()].filter(
    ({ path }) =>
      ![...all.keys()].some((other) => other !== path && isWithin(path, other) && all.get(other)?.kind === "folder"),
  );
}

function existingHome(home: PrivateHome): PrivateHome {
  const path = realFolder(home.path);
  const places = Object.entries(home.readable).filter(([place, source]) => isWithin(place, path) && existsSync(source));
  // One below another is already visible, and its mount would lie on a read-only one.
  const shown = outermost(places.map(([place]) => place));
  return { ...home, path, readable: Object.fromEntries(places.filter(([place]) => shown.includes(place))) };
}

/** Hidden anyway: the sandbox has its own home folder. */
function isCovered(path: string, home: PrivateHome, writable: readonly string[]): boolean {
  const shown = [...Object.keys(home.readable), ...writable];
  return path !== home.path && isWithin(path, home.path) && !shown.some((folder) => isWithin(path, folder));
}

/** Free of links; throws for what cannot be a writable folder. */
export function realFolder(path: string): string {
  if (!isAbsolute(path)) throw new SandboxError(`"${path}" cannot be a writable folder: its path is not absolute.`);
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    throw new SandboxError(`The folder ${path} does not exist, so the sandbox cannot make it writable.`);
  }
  if (real === "/") {
    throw new SandboxError(
      "The workspace is the whole file system, so a sandbox would protect nothing. Work in a folder.",
    );
  }
  return real;
}
