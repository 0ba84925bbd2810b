/**
 * The profile that a run uses, and the settings files of the user, the most global first.
 *
 * 1. `--profile`, then `OXBOW_PROFILE`, then `profile` in the user's config.toml name it. Without one it is `default`.
 * 2. A name is a file in `profiles` of the configuration folder, or else a built-in profile. A file of this name in a project adds
 *    to it once it is approved (`project-profiles.ts`).
 * 3. A path is the user's own choice, except a file in the `.oxbow` folder of a project: that one stays a project's.
 */

import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { parseLayer, readLayer } from "../../feature/layer.js";
import type { Layer } from "../../feature/setting.js";
import { realpathSoFar } from "../../system/real-path.js";
import type { Roots } from "../../system/xdg-paths.js";

const DEFAULT_PROFILE = "default";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export interface ChosenProfile {
  /** Its name; of a path, the name of the file without its ending. */
  readonly name: string;
  /** The flag, variable or file that chose it. */
  readonly origin: string;
  /** The file, if the user named it by its path. */
  readonly file?: string;
  /** Only a project can have it. */
  readonly onlyProject?: true;
}

export interface UserLayers {
  readonly layers: readonly Layer[];
  readonly chosen: ChosenProfile;
  /** The user's file that new permission rules go to. */
  readonly profilePath: string;
}

export interface ProfileSources {
  readonly flags: ParsedFlags;
  readonly variables: Variables;
  readonly roots: Roots;
}

export async function userLayers(sources: ProfileSources): Promise<UserLayers> {
  const { roots } = sources;
  const configPath = join(roots.config, "config.toml");
  const config = await readLayer(configPath);
  const base = config === undefined ? [] : [config];
  const { name: given, origin } = nameOf(sources, config);
  if (given === configPath)
    return { layers: base, chosen: { name: "config", origin, file: given }, profilePath: given };
  if (isPath(given)) return ofPath(given, { origin, roots, base, configPath });
  if (!NAME.test(given)) throw new UsageError(`${origin}: "${given}" is neither the name nor the path of a profile.`);
  const own = profileFile(roots, given);
  if (existsSync(own)) {
    const layer = await readLayer(own);
    const layers = layer === undefined ? base : [...base, layer];
    return { layers, chosen: { name: given, origin }, profilePath: own };
  }
  const chosen = { name: given, origin };
  // It has no settings, and most runs use it.
  if (given === DEFAULT_PROFILE) return { layers: base, chosen, profilePath: configPath };
  const builtIn = await builtInProfile(given);
  if (builtIn !== undefined) return { layers: [...base, builtIn], chosen, profilePath: configPath };
  return { layers: base, chosen: { ...chosen, onlyProject: true }, profilePath: configPath };
}

export function profileFile({ config }: Pick<Roots, "config">, name: string): string {
  return join(config, "profiles", `${name}.toml`);
}

export function isPath(name: string): boolean {
  return /[/\\]|\.toml$/i.test(name);
}

/** The flags with another profile, for a session in `root`. */
export function withProfile(
  flags: ParsedFlags,
  { name, root }: { readonly name: string; readonly root: string },
): ParsedFlags {
  const texts = new Map([
    ["profile", name],
    ["cwd", root],
  ]);
  return {
    words: flags.words,
    has: (flag) => texts.has(flag) || flags.has(flag),
    text: (flag) => texts.get(flag) ?? flags.text(flag),
    list: (flag) => flags.list(flag),
  };
}

function nameOf({ flags, variables }: ProfileSources, config: Layer | undefined) {
  const flag = flags.text("profile");
  if (flag !== undefined) return { name: flag, origin: "--profile" };
  if (variables.OXBOW_PROFILE) return { name: variables.OXBOW_PROFILE, origin: "OXBOW_PROFILE" };
  const written = config?.profile.profile;
  if (written === undefined) return { name: DEFAULT_PROFILE, origin: "default" };
  const origin = `${config?.path} (profile)`;
  if (typeof written === "string") return { name: written, origin };
  throw new UsageError(`${origin}: expected the name or the path of a profile, got ${JSON.stringify(written)}.`);
}

interface PathContext {
  readonly origin: string;
  readonly roots: Roots;
  readonly base: readonly Layer[];
  readonly configPath: string;
}

async function ofPath(given: string, { origin, roots, base, configPath }: PathContext): Promise<UserLayers> {
  const from = origin.endsWith("(profile)") ? roots.config : process.cwd();
  const path = resolve(from, given.replace(/^~(?=\/)/, homedir()));
  const name = basename(path).replace(/\.toml$/i, "");
  const project = ofProject(path, roots);
  if (project !== undefined) {
    const chosen = { name, origin, file: project, onlyProject: true } as const;
    return { layers: base, chosen, profilePath: configPath };
  }
  const layer = await readLayer(path);
  if (layer === undefined) throw new UsageError(`${origin}: cannot read the profile ${path}: there is no such file.`);
  return { layers: [...base, layer], chosen: { name, origin, file: path }, profilePath: path };
}

/** The real path of the file, if it is in the `.oxbow` folder of a project. */
function ofProject(path: string, { config }: Roots): string | undefined {
  const real = realpathSoFar(path);
  const isInSource = /[/\\]\.oxbow[/\\]/.test(real);
  return isInSource && !real.startsWith(`${realpathSoFar(config)}/`) ? real : undefined;
}

/** The names of the profiles in a folder; none if it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith(".toml") && !name.startsWith("."));
    return files.map((name) => name.slice(0, -".toml".length)).sort();
  } catch {
    return [];
  }
}

const LOADERS: Readonly<Record<string, () => Promise<{ readonly default: string }>>> = {
  default: () => import("../../../assets/profiles/default.toml"),
  oxbow: () => import("../../../assets/profiles/oxbow.toml"),
};

export const BUILT_IN_PROFILES: readonly string[] = Object.keys(LOADERS);

export async function builtInProfile(name: string): Promise<Layer | undefined> {
  if (!Object.hasOwn(LOADERS, name)) return undefined;
  const text = (await LOADERS[name]?.())?.default ?? "";
  return parseLayer({ scope: "built-in", path: `built-in profile ${name}`, text });
}
