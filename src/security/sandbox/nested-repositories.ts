/**
 * The repositories below a folder, also those that appear while a session runs (`git clone`, `git init`, worktrees).
 *
 * 1. Every look goes through all folders, but lists only those whose change time moved: a new `.git`, or a folder that could hold
 *    one, cannot come into being without moving it, and no program can set it back.
 * 2. The clock of a file system ticks slowly. A folder that changed just before it was listed is listed again the next time.
 * 3. A look costs some microseconds a folder. Without a reason to look again (`mayHaveChanged`) the last answer holds for a few
 *    times as long as it took to find, so that looking never takes more than a small part of the time.
 * 4. What was found once stays found for as long as it is there: a command that makes thousands of folders cannot push it out of
 *    the search.
 */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";

const MAX_FOLDERS = 4000;
const MAX_DEPTH = 6;
/** Large, and never a place where one works with git. */
const SKIPPED = new Set(["node_modules", ".git"]);
/** Longer than a tick of any file system's clock that has one finer than seconds. */
const TICK_MS = 50;
const REST_FACTOR = 10;
/** What tells a repository without a work tree from other folders. */
const BARE = ["HEAD", "objects", "refs"];

interface Listing {
  readonly changed: number;
  readonly inode: number;
  readonly isRepository: boolean;
  readonly subfolders: readonly string[];
}

export interface NestedRepositoriesOptions {
  readonly clock: Pick<Clock, "now" | "wall">;
  readonly maxFolders?: number;
}

export class NestedRepositories {
  readonly #root: string;
  readonly #clock: Pick<Clock, "now" | "wall">;
  readonly #maxFolders: number;
  #listings = new Map<string, Listing>();
  #found: readonly string[] = [];
  #restsUntil = Number.NEGATIVE_INFINITY;

  /** `root` must be free of links. */
  constructor(root: string, { clock, maxFolders = MAX_FOLDERS }: NestedRepositoriesOptions) {
    this.#root = root;
    this.#clock = clock;
    this.#maxFolders = maxFolders;
  }

  /** A program ran meanwhile. */
  mayHaveChanged(): void {
    this.#restsUntil = Number.NEGATIVE_INFINITY;
  }

  /** Folders that hold a `.git` or are a bare repository, nearest first; the root itself is not among them. */
  find(): readonly string[] {
    const started = this.#clock.now();
    if (started < this.#restsUntil) return this.#found;
    const listings = new Map<string, Listing>();
    const found: string[] = [];
    let level: readonly string[] = [this.#root];
    for (let depth = 0; level.length > 0 && depth <= MAX_DEPTH; depth++) {
      const next: string[] = [];
      for (const folder of level) {
        if (listings.size >= this.#maxFolders) break;
        const listing = this.#listing(folder);
        if (listing === undefined) continue;
        listings.set(folder, listing);
        if (listing.isRepository && folder !== this.#root) found.push(folder);
        for (const name of listing.subfolders) next.push(join(folder, name));
      }
      level = next;
    }
    const before = this.#found.filter((folder) => !found.includes(folder) && isRepository(folder));
    this.#listings = listings;
    this.#found = [...found, ...before];
    const ended = this.#clock.now();
    this.#restsUntil = ended + (ended - started) * REST_FACTOR;
    return this.#found;
  }

  #listing(folder: string): Listing | undefined {
    try {
      const { ctimeMs, ino } = lstatSync(folder);
      const known = this.#listings.get(folder);
      if (known !== undefined && known.changed === ctimeMs && known.inode === ino) return known;
      return {
        changed: this.#clock.wall() - ctimeMs > TICK_MS ? ctimeMs : Number.NaN,
        inode: ino,
        ...contentOf(folder),
      };
    } catch {
      // Gone, or nobody's business: what cannot be listed cannot be worked in.
      return undefined;
    }
  }
}

function isRepository(folder: string): boolean {
  try {
    return contentOf(folder).isRepository;
  } catch {
    return false;
  }
}

function contentOf(folder: string): Pick<Listing, "isRepository" | "subfolders"> {
  const entries = readdirSync(folder, { withFileTypes: true });
  const names = new Set(entries.map(({ name }) => name));
  const subfolders = entries.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name));
  return {
    isRepository: names.has(".git") || BARE.every((name) => names.has(name)),
    subfolders: subfolders.map(({ name }) => name),
  };
}
