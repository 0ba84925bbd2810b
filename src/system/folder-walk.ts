/**
 * Notes something about each folder below a root, by the names in it.
 *
 * 1. Every walk visits all folders, nearest first, but lists only those with a new change time: a new entry always updates it, and no
 *    program can set it back.
 * 2. The clock of a file system ticks slowly. A folder that changed just before it was listed is listed again the next time.
 * 3. Not in `.git` and `node_modules`: those are large, and their own.
 */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { nodeClock } from "./node-clock.js";
import { fsPath, pathText } from "./path-bytes.js";

export interface Walked<Note> {
  /** By folder, in the order of the walk. */
  readonly notes: ReadonlyMap<string, Note>;
  /** Folders that cannot be listed. */
  readonly closed: readonly string[];
}

interface Listing<Note> {
  readonly changed: number;
  readonly inode: number;
  readonly subfolders: readonly string[];
  readonly note: Note;
}

const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);
/** Longer than a tick of any file system clock that is finer than seconds. */
const TICK_MS = 50;
/** Sets how long one slice of a walk may block this process. */
const SLICE_MS = 5;

export class FolderWalk<Note> {
  readonly #root: string;
  readonly #wall: () => number;
  readonly #note: (folder: string, names: readonly string[]) => Note;
  #listings = new Map<string, Listing<Note>>();

  /** `root` must be free of links. */
  constructor(root: string, wall: () => number, note: (folder: string, names: readonly string[]) => Note) {
    this.#root = root;
    this.#wall = wall;
    this.#note = note;
  }

  now(): Walked<Note> {
    const steps = this.#steps();
    for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
  }

  async inSlices(): Promise<Walked<Note>> {
    const steps = this.#steps();
    let sliceEnds = nodeClock.now() + SLICE_MS;
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value;
      if (nodeClock.now() < sliceEnds) continue;
      await setImmediate();
      sliceEnds = nodeClock.now() + SLICE_MS;
    }
  }

  *#steps(): Generator<undefined, Walked<Note>> {
    const listings = new Map<string, Listing<Note>>();
    const waiting = [this.#root];
    const closed: string[] = [];
    for (const folder of waiting) {
      try {
        const listing = this.#list(folder);
        listings.set(folder, listing);
        waiting.push(...listing.subfolders.map((name) => join(folder, name)));
      } catch (error) {
        // What is gone meanwhile does not count.
        if ((error as NodeJS.ErrnoException).code === "EACCES") closed.push(folder);
      }
      yield;
    }
    this.#listings = listings;
    return { notes: new Map([...listings].map(([folder, { note }]) => [folder, note])), closed };
  }

  #list(folder: string): Listing<Note> {
    const { ctimeMs, ino } = lstatSync(fsPath(folder));
    const known = this.#listings.get(folder);
    if (known !== undefined && known.changed === ctimeMs && known.inode === ino) return known;
    const entries = entriesIn(folder);
    return {
      changed: this.#wall() - ctimeMs > TICK_MS ? ctimeMs : Number.NaN,
      inode: ino,
      subfolders: entries.filter(({ name, isFolder }) => isFolder && !SKIPPED.has(name)).map(({ name }) => name),
      note: this.#note(
        folder,
        entries.map(({ name }) => name),
      ),
    };
  }
}

/** Names keep every byte. */
function entriesIn(folder: string): readonly { readonly name: string; readonly isFolder: boolean }[] {
  const place = fsPath(folder);
  const entries = readdirSync(place, { withFileTypes: true });
  if (!entries.some(({ name }) => name.includes("\ufffd")))
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  return readdirSync(place, { withFileTypes: true, encoding: "buffer" }).map((entry) => ({
    name: pathText(entry.name),
    isFolder: entry.isDirectory(),
  }));
}
