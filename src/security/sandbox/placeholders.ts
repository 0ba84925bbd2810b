/**
 * A mount needs a mount point, so a guarded place that does not exist gets an empty folder or a harmless file while a command
 * runs.
 *
 * 1. Only what was made for a sandbox is removed, and only while it is unchanged: another program may have filled it meanwhile.
 * 2. It is removed a moment after the last command that needs it has ended: removing it earlier would remove the mount on it,
 *    and the next command usually follows at once. Commands of other processes in the same workspace count too (placeholder-records.ts).
 * 3. It is removed at the latest when the last process that needs it exits. A later process removes what a killed process has left.
 */
import { mkdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import type { Clock } from "../../base/clock.js";
import { identityOf } from "../../system/file-identity.js";
import type { Guards, Missing } from "./guards.js";
import { PlaceholderRecords } from "./placeholder-records.js";

export interface Held {
  /** The empty folders among them. */
  readonly folders: readonly string[];
  /** Places that cannot be created, so they need no guard: the disk or the folder is read-only. */
  readonly impossible: readonly string[];
  release(): void;
}

export interface PlaceholdersOptions {
  readonly clock: Clock;
  /** How long they stay for the next command. */
  readonly lingerMs: number;
  /** The folder of the notes about placeholders. */
  readonly folder: string;
}

const live = new Set<Placeholders>();
let exitHandled = false;

export class Placeholders {
  readonly #options: PlaceholdersOptions;
  readonly #users = new Map<string, { readonly missing: Missing; count: number }>();
  readonly #records: PlaceholderRecords;
  #cancelRemoval = () => {};
  #swept = false;

  constructor(options: PlaceholdersOptions) {
    this.#options = options;
    this.#records = new PlaceholderRecords(options.folder);
  }

  /** Removes the leftovers of killed processes. Once, before the first scan. */
  sweep(): void {
    if (this.#swept) return;
    this.#swept = true;
    this.#records.locked(() => {
      const others = this.#records.others();
      for (const place of this.#records.takeLeft()) if (!others.has(place.path)) remove(place);
    });
  }

  /**
   * Creates what is missing, and keeps what was created for an earlier command or by another process. Undefined when an existing guarded
   * place has vanished: the guards must be searched again.
   */
  hold(guards: Guards): Held | undefined {
    return this.#records.locked(() => this.#hold(guards));
  }

  #hold({ readOnly, missing }: Guards): Held | undefined {
    const others = this.#records.others();
    const kept = readOnly.flatMap((path) => this.#users.get(path)?.missing ?? others.get(path) ?? []);
    const wanted = new Map([...kept, ...missing].map((place) => [place.path, place]));
    if (!readOnly.every((path) => wanted.has(path) || identityOf(path) !== "")) return undefined;
    const isKnown = (path: string) => this.#users.has(path);
    if (![...wanted.keys()].every(isKnown)) this.#writeDown(wanted.values());
    const mine: string[] = [];
    const impossible: string[] = [];
    for (const [path, place] of wanted) {
      const made = make(place);
      if (made === "impossible") impossible.push(path);
      else if (made === "made" || isKnown(path) || others.has(path)) mine.push(path);
    }
    for (const path of mine) this.#use(wanted.get(path) as Missing);
    // What another program has made is not ours to remove, nor that of another process.
    if (mine.length < wanted.size) this.#writeDown([]);
    if (mine.length > 0) this.#removeAtExit();
    return {
      folders: mine.filter((path) => wanted.get(path)?.content === undefined),
      impossible,
      release: () => {
        for (const path of mine.splice(0)) this.#leave(path);
        this.#cancelRemoval();
        if (this.#options.lingerMs === 0) this.removeUnused();
        else this.#cancelRemoval = this.#options.clock.after(this.#options.lingerMs, () => this.removeUnused());
      },
    };
  }

  removeUnused(): void {
    this.#cancelRemoval();
    if (this.#users.size > 0) this.#records.locked(() => this.#removeUnused());
  }

  #removeUnused(): void {
    const others = this.#records.others();
    for (const [path, { missing, count }] of this.#users) {
      if (count > 0) continue;
      this.#users.delete(path);
      if (!others.has(path)) remove(missing);
    }
    if (this.#users.size > 0) return;
    live.delete(this);
    this.#records.forget();
  }

  /** Whether or not a command still needs them. */
  removeAll(): void {
    for (const user of this.#users.values()) user.count = 0;
    this.removeUnused();
  }

  #writeDown(wanted: Iterable<Missing>): void {
    const places = new Map([...this.#users.values()].map(({ missing }) => [missing.path, missing]));
    for (const place of wanted) places.set(place.path, place);
    this.#records.write([...places.values()]);
  }

  #use(missing: Missing): void {
    const user = this.#users.get(missing.path) ?? { missing, count: 0 };
    user.count++;
    this.#users.set(missing.path, user);
  }

  #leave(path: string): void {
    const user = this.#users.get(path);
    if (user !== undefined) user.count--;
  }

  #removeAtExit(): void {
    live.add(this);
    if (exitHandled) return;
    exitHandled = true;
    process.once("exit", () => {
      for (const placeholders of live) placeholders.removeAll();
    });
  }
}

/** `there` when another program created it first; then it belongs to that program. */
function make({ path, content }: Missing): "made" | "there" | "impossible" {
  try {
    if (content === undefined) mkdirSync(path, { mode: 0o755 });
    else writeFileSync(path, content, { flag: "wx", mode: 0o644 });
    return "made";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return "there";
    if (code === "EROFS" || code === "EACCES" || code === "EPERM") return "impossible";
    throw error;
  }
}

function remove({ path, content }: Missing): void {
  try {
    if (content === undefined) rmdirSync(path);
    else if (readFileSync(path, "utf8") === content) unlinkSync(path);
  } catch {
    // Another program has filled or removed it, so it is not ours any more.
  }
}
