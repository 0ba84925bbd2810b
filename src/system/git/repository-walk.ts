/**
 * Finds the folders below a root that hold a repository or are one, also those that appear later (`git clone`, `git init`, worktrees).
 *
 * 1. Every walk visits all folders, nearest first, but lists only those with a new change time: a new entry always updates it, and no
 *    program can set it back.
 * 2. The clock of a file system ticks slowly. A folder that changed just before it was listed is listed again the next time.
 * 3. Folders named `node_modules` are large, and git enters a repository in them automatically only if an index lists it. They are
 *    skipped, or searched last up to a separate limit (`maxModuleFolders`), only for repositories.
 */
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { nodeClock } from "../node-clock.js";
import { fsPath, pathText } from "../path-bytes.js";
import { mayBeGitFolder } from "./git-folder.js";

export interface RepositoryWalkOptions<Note> {
  readonly wall: () => number;
  /** Default: no limit. */
  readonly maxFolders?: number;
  /** How many folders in `node_modules` to search; default: none. */
  readonly maxModuleFolders?: number;
  /**
   * Folders that their owner may not list are opened for the owner: a command can close one, and programs still find files in it by
   * name.
   */
  readonly closed?: "opened";
  /** Additional data about a folder, from the names in it. */
  readonly note?: (folder: string, names: readonly string[]) => Note;
}

export interface Walked<Note> {
  /** In the order of the walk. */
  readonly repositories: readonly string[];
  /** By folder. */
  readonly notes: ReadonlyMap<string, Note | undefined>;
  /** The number of each folder on the disk. */
  readonly inodes: ReadonlyMap<string, number>;
  /** False if some folders were not searched. */
  readonly complete: boolean;
  /** Folders that cannot be listed. */
  readonly closed: readonly string[];
}

interface Listing<Note> {
  readonly changed: number;
  readonly inode: number;
  readonly isRepository: boolean;
  readonly subfolders: readonly string[];
  readonly note: Note | undefined;
}

const MODULES = "node_modules";
/** Longer than a tick of any file system clock that is finer than seconds. */
const TICK_MS = 50;
/** How long one slice of a walk may block this process. */
const SLICE_MS = 5;

export class RepositoryWalk<Note = undefined> {
  readonly #root: string;
  readonly #options: RepositoryWalkOptions<Note>;
  #listings = new Map<string, Listing<Note>>();

  /** `root` must be free of links. */
  constructor(root: string, options: RepositoryWalkOptions<Note>) {
    this.#root = root;
    this.#options = options;
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
    const { maxFolders = Number.POSITIVE_INFINITY, maxModuleFolders = 0 } = this.#options;
    const listings = new Map<string, Listing<Note>>();
    const waiting = [this.#root];
    const modules: string[] = [];
    const closed: string[] = [];
    for (const folder of waiting) {
      if (listings.size >= maxFolders) break;
      const listing = this.#listing(folder);
      if (listing === "closed") closed.push(folder);
      if (listing === undefined || listing === "closed") continue;
      listings.set(folder, listing);
      for (const name of listing.subfolders) {
        if (name === MODULES) modules.push(join(folder, name));
        else waiting.push(join(folder, name));
      }
      yield;
    }
    for (let index = 0; index < Math.min(modules.length, maxModuleFolders); index++) {
      const folder = modules[index] as string;
      const listing = this.#listing(folder);
      if (listing === undefined || listing === "closed") continue;
      listings.set(folder, listing);
      for (const name of listing.subfolders) modules.push(join(folder, name));
      yield;
    }
    this.#listings = listings;
    const found = [...listings];
    return {
      repositories: found.filter(([, { isRepository }]) => isRepository).map(([folder]) => folder),
      notes: new Map(found.map(([folder, { note }]) => [folder, note])),
      inodes: new Map(found.map(([folder, { inode }]) => [folder, inode])),
      complete: waiting.length <= maxFolders,
      closed,
    };
  }

  #listing(folder: string): Listing<Note> | "closed" | undefined {
    const listing = this.#list(folder);
    if (listing !== "closed") return listing;
    return this.#options.closed === "opened" && openForOwner(folder) ? this.#list(folder) : listing;
  }

  #list(folder: string): Listing<Note> | "closed" | undefined {
    try {
      const { ctimeMs, ino } = lstatSync(fsPath(folder));
      const known = this.#listings.get(folder);
      if (known !== undefined && known.changed === ctimeMs && known.inode === ino) return known;
      const entries = entriesIn(folder);
      const names = new Set(entries.map(({ name }) => name));
      return {
        changed: this.#options.wall() - ctimeMs > TICK_MS ? ctimeMs : Number.NaN,
        inode: ino,
        isRepository: names.has(".git") || mayBeGitFolder((name) => names.has(name)),
        subfolders: entries.filter(({ name, isFolder }) => isFolder && name !== ".git").map(({ name }) => name),
        note: isInModules(folder.slice(this.#root.length)) ? undefined : this.#options.note?.(folder, [...names]),
      };
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EACCES" ? "closed" : undefined;
    }
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

function isInModules(below: string): boolean {
  return `${below}/`.includes(`/${MODULES}/`);
}

function openForOwner(folder: string): boolean {
  try {
    chmodSync(fsPath(folder), (lstatSync(fsPath(folder)).mode & 0o7777) | 0o500);
    return true;
  } catch {
    return false;
  }
}
