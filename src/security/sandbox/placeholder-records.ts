/**
 * Which process needs which placeholders. Each process keeps its own note in one folder, so that processes that work in the same
 * workspace neither remove a placeholder that another one still needs, nor leave one behind when they are killed.
 *
 * 1. A process writes its note before it makes a placeholder, or counts on one that another process has made.
 * 2. Notes and placeholders change only under one lock. It is held for less than a millisecond, and synchronously: placeholders are
 *    removed while a process exits.
 */
import { mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type HeldLock, holdLockSync } from "../../system/file-lock.js";
import { nodeClock } from "../../system/node-clock.js";
import { isGone, processMark } from "../../system/process-identity.js";
import type { Missing } from "./guards.js";

const NOTE = /^placeholders-(\d+\.\d+)-\d+\.json$/;
const LOCK = "placeholders.lock";
/** A stopped holder must not block the other processes for long. */
const PATIENCE_MS = 1000;

let count = 0;

export class PlaceholderRecords {
  readonly #folder: string;
  readonly #own: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#own = `placeholders-${processMark()}-${++count}.json`;
  }

  /** Works without the lock if it is not available (a read-only folder, a stopped holder): the guard matters more than a leftover. */
  locked<T>(work: () => T): T {
    const lock = this.#lock();
    try {
      return work();
    } finally {
      lock?.release();
    }
  }

  /** What other live processes need, by path. */
  others(): ReadonlyMap<string, Missing> {
    const found = new Map<string, Missing>();
    for (const [name, mark] of this.#names()) {
      if (name === this.#own || isGone(mark)) continue;
      for (const place of this.#read(name)) found.set(place.path, place);
    }
    return found;
  }

  write(places: readonly Missing[]): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(this.#folder, this.#own), JSON.stringify(places), { mode: 0o600 });
    } catch {
      // Without the note, an empty folder stays if this process is killed. Guarding the place matters more.
    }
  }

  forget(): void {
    remove(join(this.#folder, this.#own));
  }

  /** Removes the notes of killed processes; returns what they had created. */
  takeLeft(): readonly Missing[] {
    return this.#names().flatMap(([name, mark]) => {
      if (!isGone(mark)) return [];
      const places = this.#read(name);
      remove(join(this.#folder, name));
      return places;
    });
  }

  #names(): readonly (readonly [name: string, mark: string])[] {
    let names: readonly string[] = [];
    try {
      names = readdirSync(this.#folder);
    } catch {
      // No process has made a placeholder yet.
    }
    return names.flatMap((name) => {
      const mark = NOTE.exec(name)?.[1];
      return mark === undefined ? [] : [[name, mark] as const];
    });
  }

  #read(name: string): readonly Missing[] {
    try {
      return JSON.parse(readFileSync(join(this.#folder, name), "utf8")) as readonly Missing[];
    } catch {
      // Its writer was killed while it wrote, before it made anything.
      return [];
    }
  }

  #lock(): HeldLock | undefined {
    try {
      return holdLockSync(join(this.#folder, LOCK), { clock: nodeClock, patienceMs: PATIENCE_MS });
    } catch {
      return undefined;
    }
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another process has removed it.
  }
}
