/**
 * What lies where a session's commands run: the layout of the sandbox as it has to be now, whether it is still the one that a command
 * was wrapped with, and what of the guard list is there.
 */
import { identityOf } from "../../system/file-identity.js";
import { nodeClock } from "../../system/node-clock.js";
import type { GuardList } from "../guard-list/guard-list.js";
import { openGuardList } from "../guard-list/open-guard-list.js";
import { listeningSockets, otherProcesses } from "./host-openings.js";
import { findLayout, type Layout, realFolder } from "./layout.js";
import type { HeldPlaces, SandboxOptions } from "./sandbox-options.js";

const NO_HOME = "/nonexistent";
/** A sandbox takes about as long to be made: what changes within this time is not seen either way. */
const FRESH_MS = 50;

export class SessionLayout {
  readonly #options: SandboxOptions;
  #guardList: GuardList | undefined;
  /** How the places looked when they were last looked at. */
  #latest: { readonly look: string; readonly at: number; readonly restrictions: string } | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** A command starts with this layout. Returns whether another one would still start with the same. */
  use(layout: Layout): () => boolean {
    const look = this.#note(lookOf(layout));
    return () => this.#lookNow() === look;
  }

  /** What a command that starts with this layout finds of the guard list. */
  held({ standIns, guards }: Layout): HeldPlaces {
    const readOnly = [...new Set([...standIns, ...guards.readOnly, ...guards.missing.map(({ path }) => path)])];
    return { readOnly, named: this.#guardList?.named() ?? [], absent: this.#guardList?.absent() ?? [] };
  }

  /** A command has ended. */
  mayHaveChanged(): void {
    this.#latest = undefined;
    this.#guardList?.mayHaveChanged();
  }

  #note(look: string): string {
    this.#latest = { look, at: this.#now(), restrictions: this.#restrictionsNow() };
    return look;
  }

  #lookNow(): string {
    const { freshMs = FRESH_MS } = this.#options;
    const isFresh = this.#latest !== undefined && this.#now() - this.#latest.at < freshMs;
    if (isFresh && this.#latest?.restrictions === this.#restrictionsNow()) return this.#latest.look;
    return this.#note(lookOf(this.now()));
  }

  #restrictionsNow(): string {
    return JSON.stringify(this.#options.restrictions?.() ?? null);
  }

  #now(): number {
    return (this.#options.clock ?? nodeClock).now();
  }

  now(): Layout {
    const { policy, platform } = this.#options;
    this.#guardList ??= this.#openGuardList();
    const list = this.#guardList;
    const found = { nested: list.nested(), hookFolders: list.hookFolders(), places: list.places() };
    const alsoHidden = platform === "linux" ? [...listeningSockets(), ...otherProcesses()] : [];
    const more = this.#options.restrictions?.();
    if (more === undefined) return findLayout(policy, { ...found, alsoHidden });
    const readOnlyWithin = [...policy.readOnlyWithin, ...more.readOnlyWithin];
    const restricted = { ...policy, readOnlyWithin, hidden: [...policy.hidden, ...more.hidden] };
    return findLayout(restricted, { ...found, alsoHidden });
  }

  #openGuardList(): GuardList {
    const { policy, path, home, clock = nodeClock, variables = {} } = this.#options;
    const roots = policy.writable.map(realFolder);
    return openGuardList({ roots, home: home ?? NO_HOME, variables: { ...variables, PATH: path }, clock });
  }
}

/**
 * The layout with the numbers of what lies there: a mount is on a file or folder, not on its name. What was missing and has been
 * put there for the sandbox is the same before and after.
 */
function lookOf({ writable, guards, standIns, covering, hidden, visible }: Layout): string {
  const missing = guards.missing.map(({ path }) => path);
  const guarded = [...new Set([...guards.readOnly, ...standIns, ...missing])].sort();
  const places = [...covering, ...hidden];
  const paths = [...writable, ...guards.pinned, ...guarded, ...places.map(({ path }) => path), ...visible];
  return JSON.stringify([places, paths.map((path) => [path, identityOf(path)])]);
}
