/**
 * Mounts need something to lie on, so a guarded place that does not exist is given an empty folder or a harmless file for as
 * long as a command runs.
 *
 * 1. Only what was made here is removed, and only while it is unchanged: another program may have filled it meanwhile.
 * 2. It goes a moment after the last command that needs it has ended: taking it away earlier would take away the mount on it,
 *    and the next command mostly follows at once.
 * 3. It goes at the latest when this process exits. A process that is killed cannot do that: what is going to be made is written
 *    down before, and a later process that finds the note of one that is gone removes it.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { isGone, processMark } from "../../system/process-identity.js";
import type { Guards, Missing } from "./guards.js";

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
  /** Where it is written down what was made. */
  readonly folder: string;
}

const live = new Set<Placeholders>();
let exitHandled = false;
let count = 0;

const NOTE = /^placeholders-(\d+\.\d+)-\d+\.json$/;

export class Placeholders {
  readonly #options: PlaceholdersOptions;
  readonly #users = new Map<string, { readonly missing: Missing; count: number }>();
  readonly #note: string;
  #cancelRemoval = () => {};
  #swept = false;

  constructor(options: PlaceholdersOptions) {
    this.#options = options;
    this.#note = join(options.folder, `placeholders-${processMark()}-${++count}.json`);
  }

  /** Removes what processes have left that were killed. Once: before it is looked at what is there. */
  sweep(): void {
    if (this.#swept) return;
    this.#swept = true;
    for (const name of namesIn(this.#options.folder)) {
      const mark = NOTE.exec(name)?.[1];
      if (mark === undefined || !isGone(mark)) continue;
      const note = join(this.#options.folder, name);
      for (const place of readNote(note)) remove(place);
      forget(note);
    }
  }

  /** Makes what is missing, and keeps what was made for an earlier command. */
  hold({ readOnly, missing }: Guards): Held {
    const kept = readOnly.flatMap((path) => this.#users.get(path)?.missing ?? []);
    const wanted = new Map([...kept, ...missing].map((place) => [place.path, place]));
    if (missing.length > 0) this.#writeDown([...[...this.#users.values()].map((user) => user.missing), ...missing]);
    const mine: string[] = [];
    const impossible: string[] = [];
    for (const [path, place] of wanted) {
      const made = make(place);
      if (made === "impossible") impossible.push(path);
      else if (made === "made" || this.#users.has(path)) mine.push(path);
      if (made === "made" && !this.#users.has(path)) this.#users.set(path, { missing: place, count: 0 });
    }
    for (const path of mine) this.#count(path, 1);
    if (mine.length > 0) this.#removeAtExit();
    return {
      folders: mine.filter((path) => wanted.get(path)?.content === undefined),
      impossible,
      release: () => {
        for (const path of mine.splice(0)) this.#count(path, -1);
        this.#cancelRemoval();
        if (this.#options.lingerMs === 0) this.removeUnused();
        else this.#cancelRemoval = this.#options.clock.after(this.#options.lingerMs, () => this.removeUnused());
      },
    };
  }

  removeUnused(): void {
    this.#cancelRemoval();
    for (const [path, { missing, count }] of this.#users) {
      if (count > 0) continue;
      this.#users.delete(path);
      remove(missing);
    }
    if (this.#users.size > 0) return;
    live.delete(this);
    forget(this.#note);
  }

  /** Whether or not a command still needs them. */
  removeAll(): void {
    for (const user of this.#users.values()) user.count = 0;
    this.removeUnused();
  }

  #writeDown(places: readonly Missing[]): void {
    try {
      mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
      writeFileSync(this.#note, JSON.stringify(places), { mode: 0o600 });
    } catch {
      // Then it stays when this process is killed: an empty folder, no reason not to guard the place.
    }
  }

  #count(path: string, change: number): void {
    const user = this.#users.get(path);
    if (user !== undefined) user.count += change;
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

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readNote(file: string): readonly Missing[] {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as readonly Missing[];
  } catch {
    // Its writer was killed while it wrote, before it made anything.
    return [];
  }
}

function forget(note: string): void {
  try {
    unlinkSync(note);
  } catch {
    // There was none.
  }
}

function remove({ path, content }: Missing): void {
  try {
    if (content === undefined) rmdirSync(path);
    else if (readFileSync(path, "utf8") === content) unlinkSync(path);
  } catch {
    // Filled or removed meanwhile: not ours any more.
  }
}
