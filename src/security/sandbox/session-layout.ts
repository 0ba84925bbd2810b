/**
 * The layout of a session's sandbox: how it must be now, whether an existing sandbox still has it, and which places of the guard list
 * exist.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { identityOf } from "../../system/file-identity.js";
import { nodeClock } from "../../system/node-clock.js";
import type { GuardList } from "../guard-list/guard-list.js";
import { LinkedFiles } from "../guard-list/linked-files.js";
import { openGuardList } from "../guard-list/open-guard-list.js";
import { SecretFiles } from "../guard-list/secret-files.js";
import { listeningSockets, otherProcesses } from "./host-openings.js";
import { findLayout, type Layout, realFolder } from "./layout.js";
import type { HeldPlaces, SandboxOptions } from "./sandbox-options.js";

const NO_HOME = "/nonexistent";

export class SessionLayout {
  readonly #options: SandboxOptions;
  #guardList: GuardList | undefined;
  #hiddenLinks: LinkedFiles | undefined;
  #secrets: SecretFiles | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** Returns whether another sandbox would be made with the same layout now. */
  use(layout: Layout): () => boolean {
    const look = lookOf(layout);
    return () => lookOf(this.now()) === look;
  }

  /** The guard list as a command with this layout finds it. */
  held({ standIns, guards }: Layout): HeldPlaces {
    const readOnly = [...new Set([...standIns, ...guards.readOnly, ...guards.missing.map(({ path }) => path)])];
    return { readOnly, named: this.#guardList?.named() ?? [], absent: this.#guardList?.absent() ?? [] };
  }

  /** Something may have changed the workspace. */
  mayHaveChanged(): void {
    this.#guardList?.mayHaveChanged();
  }

  /** A command with this layout begins. Returns what to call when it has ended. */
  begin({ masked }: Layout): () => void {
    this.#secrets?.noteCovered(masked.map(({ path }) => path));
    return () => {
      this.mayHaveChanged();
      this.#secrets?.noteMade();
    };
  }

  now(): Layout {
    const { policy, platform } = this.#options;
    this.#guardList ??= this.#openGuardList();
    const list = this.#guardList;
    const found = { nested: list.nested(), hookFolders: list.hookFolders(), places: list.places() };
    this.#hiddenLinks ??= this.#openHiddenLinks();
    const ofSystem = platform === "linux" ? [...listeningSockets(), ...otherProcesses()] : [];
    const alsoHidden = [...ofSystem, ...this.#hiddenLinks.aliases()];
    const secrets = policy.secrets === "masked" ? this.#secretFiles(list).find() : [];
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

  #secretFiles(list: GuardList): SecretFiles {
    const { policy, clock = nodeClock, madeByCommands = new Set(), shownSecrets = [] } = this.#options;
    this.#secrets ??= new SecretFiles({
      ...{ roots: policy.writable.map(realFolder), clock, madeByCommands, shown: shownSecrets },
      candidates: () => list.secretNames(),
    });
    return this.#secrets;
  }

  #openGuardList(): GuardList {
    const { policy, path, home, clock = nodeClock, variables = {} } = this.#options;
    const roots = policy.writable.map(realFolder);
    return openGuardList({ roots, home: home ?? NO_HOME, variables: { ...variables, PATH: path }, clock });
  }
}

/**
 * The layout with the identities of its files: a mount is on a file or folder, not on its name. A placeholder for a missing place has
 * the same look before and after it is created.
 */
function lookOf({ writable, guards, standIns, covering, hidden, visible, masked, home }: Layout): string {
  const missing = guards.missing.map(({ path }) => path);
  const guarded = [...new Set([...guards.readOnly, ...standIns, ...missing])].sort();
  const places = [...covering, ...hidden, ...masked];
  const paths = [...writable, ...guards.pinned, ...guarded, ...places.map(({ path }) => path), ...visible];
  return JSON.stringify([places, home, paths.map((path) => [path, identityOf(path)])]);
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
