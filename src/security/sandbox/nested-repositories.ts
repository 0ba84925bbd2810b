/**
 * The repositories below a folder, also those that appear while a session runs (`git clone`, `git init`, worktrees).
 *
 * 1. Every look goes through all folders, but lists only those whose change time moved: a new `.git`, or a folder that could hold
 *    one, cannot come into being without moving it, and no program can set it back.
 * 2. The clock of a file system ticks slowly. A folder that changed just before it was listed is listed again the next time.
 * 3. A look costs some microseconds a folder. Without a reason to look again (`mayHaveChanged`) the last answer holds for a few
 *    times as long as it took to find, so that looking never takes more than a small part of the time.
 * 4. On the way the guarded names are noted that are there (`../guard-list/guarded-names.ts`).
 * 5. What was found once stays found for as long as it is there: a command that makes thousands of folders cannot push it out of
 *    the search.
 */
import { lstatSync, readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import type { Clock } from "../../base/clock.js";
import { guardedEntries } from "../guard-list/guarded-names.js";

const MAX_FOLDERS = 4000;
const MAX_DEPTH = 6;
/** Large, and never a place where one works with git. */
const SKIPPED = new Set(["node_modules", ".git"]);
/** Longer than a tick of any file system's clock that has one finer than seconds. */
const TICK_MS = 50;
const REST_FACTOR = 10;

interface Listing {
  readonly changed: number;
  readonly inode: number;
  readonly isRepository: boolean;
  readonly subfolders: readonly string[];
  /** Names in it that are guarded, but for git's own. */
  readonly guarded: readonly string[];
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
  /** Guarded places at the first look, wherever they were. */
  #atFirst: readonly string[] | undefined;
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

  /** Everything that has a guarded name, wherever it is. */
  named(): readonly string[] {
    this.find();
    return [...this.#listings].flatMap(([folder, { guarded }]) => guarded.map((name) => join(folder, name)));
  }

  /**
   * Guarded places that exist: at the top of the folder and of each repository as they are now, further down those that were there at
   * the first look. What a command makes further down (samples for tests, mostly) must stay removable for the next command.
   */
  guarded(): readonly string[] {
    const all = this.named();
    this.#atFirst ??= all;
    const tops = [this.#root, ...this.#found];
    const early = new Set(this.#atFirst);
    return all.filter((place) => early.has(place) || tops.some((top) => isAtTop(place, top)));
  }

  #listing(folder: string): Listing | undefined {
    try {
      const { ctimeMs, ino } = lstatSync(folder);
      const known = this.#listings.get(folder);
      if (known !== undefined && known.changed === ctimeMs && known.inode === ino) return known;
      return {
        changed: this.#clock.wall() - ctimeMs > TICK_MS ? ctimeMs : Number.NaN,
        inode: ino,
        ...contentOf(folder, relative(this.#root, folder).replaceAll(sep, "/")),
      };
    } catch {
      // A folder that is gone or cannot be listed needs no guard: commands cannot work in it.
      return undefined;
    }
  }
}

function isRepository(folder: string): boolean {
  try {
    return contentOf(folder, "").isRepository;
  } catch {
    return false;
  }
}

/** Directly in it, or in folders that belong to a tool: `.npmrc`, `.cargo/config.toml`, `gradle/wrapper`. */
function isAtTop(place: string, top: string): boolean {
  const way = relative(top, dirname(place));
  return way === "" || (way !== ".." && way.split(sep).every((name) => /^\.(?!\.)|^(gradle|tools)$/.test(name)));
}

function contentOf(folder: string, way: string): Pick<Listing, "isRepository" | "subfolders" | "guarded"> {
  const entries = readdirSync(folder, { withFileTypes: true });
  const names = new Set(entries.map(({ name }) => name));
  const subfolders = entries.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name));
  return {
    isRepository: names.has(".git") || isBare(names),
    guarded: guardedEntries(way, [...names]).filter((name) => name !== ".git"),
    subfolders: subfolders.map(({ name }) => name),
  };
}

/** What tells a repository without a work tree, or the git folder of one, from other folders. */
function isBare(names: ReadonlySet<string>): boolean {
  return names.has("HEAD") && (names.has("commondir") || (names.has("objects") && names.has("refs")));
}
