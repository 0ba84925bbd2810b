/**
 * What lies where a session's commands run: the layout of the sandbox as it has to be now, whether it is still the one that a command
 * was wrapped with, and which guarded names have appeared since.
 */
import { identityOf } from "../../system/file-identity.js";
import { nodeClock } from "../../system/node-clock.js";
import { isWithin } from "../../system/within.js";
import type { GuardList } from "../guard-list/guard-list.js";
import { openGuardList } from "../guard-list/open-guard-list.js";
import { listeningSockets, otherProcesses } from "./host-openings.js";
import { findLayout, type Layout, realFolder } from "./layout.js";
import type { SandboxOptions } from "./sandbox-options.js";

const NO_HOME = "/nonexistent";
/** A sandbox takes about as long to be made: what changes within this time is not seen either way. */
const FRESH_MS = 50;

export class SessionLayout {
  readonly #options: SandboxOptions;
  /** Guarded names that were there before a command, or were told of. */
  readonly #known = new Set<string>();
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

  /** These names and what the layout has put there count as known. */
  remember({ standIns, guards }: Layout): void {
    const made = [...standIns, ...guards.missing.map(({ path }) => path)];
    for (const path of [...(this.#guardList?.named() ?? []), ...made]) this.#known.add(path);
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

  /** What has a guarded name and did not exist cannot be mounted on, so the person is told of it. */
  tellArrivals(): void {
    const { arrived } = this.#options;
    if (arrived === undefined || this.#guardList === undefined) return;
    const fresh = this.#guardList.named().filter((path) => !this.#known.has(path));
    for (const path of fresh) this.#known.add(path);
    const innermost = fresh.filter((path) => !fresh.some((other) => other !== path && isWithin(other, path)));
    if (innermost.length > 0) arrived(innermost);
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
