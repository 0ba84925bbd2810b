/**
 * The layout of a session's sandbox: how it must be now, and which places of the guard list exist.
 */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { nodeClock } from "../../system/node-clock.js";
import { isWithin } from "../../system/within.js";
import type { GuardList } from "../guard-list/guard-list.js";
import { LinkedFiles } from "../guard-list/linked-files.js";
import { openGuardList } from "../guard-list/open-guard-list.js";
import { SecretFiles } from "../guard-list/secret-files.js";
import { listeningSockets, otherProcesses } from "./host-openings.js";
import { findLayout, type Layout, type LayoutOptions, realFolder } from "./layout.js";
import type { SandboxOptions } from "./sandbox-options.js";

const NO_HOME = "/nonexistent";

export class SessionLayout {
  readonly #options: SandboxOptions;
  #guardList: GuardList | undefined;
  #hiddenLinks: LinkedFiles | undefined;
  #secrets: SecretFiles | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** Something may have changed the workspace. */
  mayHaveChanged(): void {
    this.#guardList?.mayHaveChanged();
  }

  /** A command begins that writes into the real folders. Returns what to call when it has ended. */
  beginDirect(): () => void {
    const isMasked = this.#options.policy.secrets === "masked";
    const secretsEnd = isMasked ? this.#secretFiles().beginDirect() : () => this.#secrets?.mayHaveChanged();
    return () => {
      this.mayHaveChanged();
      secretsEnd();
    };
  }

  /** A command made these files in its view. Absolute. */
  noteMade(paths: readonly string[]): void {
    this.#secretFiles().noteMade(paths);
  }

  close(): void {
    if (this.#options.secrets === undefined) this.#secrets?.close();
  }

  now(): Layout {
    this.#guardList ??= this.#openGuardList();
    const list = this.#guardList;
    return this.#layout({ nested: list.nested(), hookFolders: list.hookFolders(), places: list.places() });
  }

  /** For a command whose changes are held back: they are checked afterwards, so only what would not pass anyway is read-only. */
  nowHeld(): Layout {
    const layout = this.#layout({ nested: [] });
    const { writable, guards } = layout;
    const { repositories } = this.#options.policy;
    const names = [...this.#options.policy.readOnlyWithin, ...(repositories === "read-only" ? [".git"] : [])];
    const readOnly = writable.flatMap((root) =>
      names.map((name) => resolve(root, name)).filter((path) => isRealPlace(path, root)),
    );
    const restricted = this.#options.restrictions?.().readOnlyWithin ?? [];
    const kept = guards.readOnly.filter((path) => restricted.includes(path));
    return { ...layout, guards: { pinned: [], readOnly: [...new Set([...readOnly, ...kept])], missing: [] } };
  }

  #layout(found: Pick<LayoutOptions, "nested" | "hookFolders" | "places">): Layout {
    const { policy, platform } = this.#options;
    this.#hiddenLinks ??= this.#openHiddenLinks();
    const ofSystem = platform === "linux" ? [...listeningSockets(), ...otherProcesses()] : [];
    const alsoHidden = [...ofSystem, ...this.#hiddenLinks.aliases()];
    const secrets = policy.secrets === "masked" ? this.#secretFiles().find() : [];
    const more = this.#options.restrictions?.();
    if (more === undefined) return findLayout(policy, { ...found, alsoHidden, secrets });
    const readOnlyWithin = [...policy.readOnlyWithin, ...more.readOnlyWithin];
    const restricted = { ...policy, readOnlyWithin, hidden: [...policy.hidden, ...more.hidden] };
    return findLayout(restricted, { ...found, alsoHidden, secrets });
  }

  /** Hard links in the workspace to files of hidden places: the same key under an ordinary name. */
  #openHiddenLinks(): LinkedFiles {
    const { policy, clock = nodeClock } = this.#options;
    const guarded = () => policy.hidden.flatMap(filesAt);
    return new LinkedFiles({ roots: policy.writable.map(realFolder), clock, guarded });
  }

  #secretFiles(): SecretFiles {
    const { policy, home = NO_HOME, clock = nodeClock, secrets } = this.#options;
    const roots = policy.writable.map(realFolder);
    this.#secrets ??= secrets ?? new SecretFiles({ roots, home, clock, shown: [] });
    return this.#secrets;
  }

  #openGuardList(): GuardList {
    const { policy, path, home, clock = nodeClock, variables = {} } = this.#options;
    const roots = policy.writable.map(realFolder);
    return openGuardList({ roots, home: home ?? NO_HOME, variables: { ...variables, PATH: path }, clock });
  }
}

/** Something below a root that can be mounted over itself. */
function isRealPlace(path: string, root: string): boolean {
  if (!isWithin(path, root) || path === root) return false;
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isSymbolicLink() && realpathSync(path) === path;
}

/** The place itself, or the files directly in it: keys do not lie deeper, and this runs before each command. */
function filesAt(place: string): readonly string[] {
  try {
    const entries = readdirSync(place, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(place, entry.name));
  } catch {
    return [place];
  }
}
