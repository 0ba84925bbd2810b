/**
 * Finds files of a folder by a few letters while the user types.
 *
 * 1. The list is made once and refreshed in the background; meanwhile the old one answers.
 * 2. An answer for 100,000 files takes a few milliseconds: most names are excluded by their letters alone, and only candidates are
 *    sorted.
 */
import { type BudgetedCache, processCache } from "../../base/cache-budget.js";
import type { Clock } from "../../base/clock.js";
import { looseScore } from "../../base/loose-match.js";
import { Workspace } from "../workspace.js";
import { Searcher } from "./searcher.js";

export interface FileIndexOptions {
  /** Relative paths with forward slashes, in any order. */
  readonly list: () => Promise<readonly string[]>;
  readonly clock: Clock;
}

interface Entry {
  /** A folder ends in a slash. */
  readonly path: string;
  readonly lower: string;
  /** The place where the last name begins. */
  readonly base: number;
  readonly letters: number;
}

/** An older list is made again. */
const FRESH_MS = 2000;
/** A list that took long is made less often. */
const REST_FACTOR = 10;
/** Of an entry besides its letters, which it holds twice. */
const ENTRY_BYTES = 80;
/** The most loose matches to compare. */
const MOST_LOOSE = 1000;

export class FileIndex {
  readonly #options: FileIndexOptions;
  #entries: readonly Entry[] = [];
  #listing: Promise<void> | undefined;
  #isListed = false;
  #bytes = 0;
  #nextAt = 0;

  constructor(options: FileIndexOptions) {
    this.#options = options;
  }

  /** About what it holds in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  async find(query: string, limit: number): Promise<readonly string[]> {
    if (this.#options.clock.now() >= this.#nextAt) this.#refresh();
    if (!this.#isListed) await this.#listing;
    return search(this.#entries, query, limit);
  }

  #refresh(): void {
    if (this.#listing !== undefined) return;
    const { clock, list } = this.#options;
    const begun = clock.now();
    this.#listing = list()
      .then(
        (paths) => {
          this.#entries = entriesOf(paths);
          this.#bytes = this.#entries.reduce((sum, { path }) => sum + ENTRY_BYTES + 2 * path.length, 0);
          this.#isListed = true;
        },
        // A deleted folder has no files; the next query tries again.
        () => {},
      )
      .finally(() => {
        const took = clock.now() - begun;
        this.#nextAt = clock.now() + Math.max(FRESH_MS, took * REST_FACTOR);
        this.#listing = undefined;
      });
  }
}

/** Files and the folders they are in. A name with control characters cannot be typed, so it cannot be completed either. */
function entriesOf(paths: readonly string[]): readonly Entry[] {
  const folders = new Set<string>();
  const entries: Entry[] = [];
  for (const path of paths) {
    if (/[\x00-\x1f\x7f]/.test(path)) continue;
    entries.push(entryOf(path));
    for (let at = path.lastIndexOf("/"); at !== -1; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
      if (at === 0) break;
    }
  }
  for (const folder of folders) entries.push(entryOf(folder));
  // Entries of equal quality are shown in this order.
  return entries.sort((a, b) => a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
}

function entryOf(path: string): Entry {
  const lower = path.toLowerCase();
  return { path, lower, base: path.lastIndexOf("/", path.length - 2) + 1, letters: lettersOf(lower) };
}

/** One bit for each letter, one for digits, and the rest for other characters. */
function lettersOf(lower: string): number {
  let letters = 0;
  for (let at = 0; at < lower.length; at++) {
    const code = lower.charCodeAt(at);
    if (code >= 97 && code <= 122) letters |= 1 << (code - 97);
    else if (code >= 48 && code <= 57) letters |= 1 << 26;
    else letters |= 1 << (27 + (code % 5));
  }
  return letters;
}

/** The best first. A path that leaves the folder finds nothing. */
function search(entries: readonly Entry[], query: string, limit: number): readonly string[] {
  const word = query.replace(/^\.\//, "").toLowerCase();
  if (/^(?:\/|~|\.\.(?:\/|$))/.test(word)) return [];
  if (word === "") return topOf(entries, limit);
  const groups = grouped(entries, word, limit);
  const found = groups.exact.flat().slice(0, limit);
  if (found.length < limit && word.length > 1) {
    found.push(...looseMatches(groups.others, word, limit - found.length));
  }
  return found.map(({ path }) => path);
}

/** Tells what lies directly in the folder: folders first. */
function topOf(entries: readonly Entry[], limit: number): readonly string[] {
  const top = entries.filter(({ base }) => base === 0).map(({ path }) => path);
  const isFile = (path: string) => Number(!path.endsWith("/"));
  return top.sort((a, b) => isFile(a) - isFile(b) || (a < b ? -1 : 1)).slice(0, limit);
}

/**
 * Groups by the position of the word: the name begins with it, the path does, the name contains it, the path does. The entries are
 * already in their final order, so the first ones of a group are its best.
 */
function grouped(entries: readonly Entry[], word: string, limit: number) {
  const exact: readonly Entry[][] = [[], [], [], []];
  const others: Entry[] = [];
  const letters = lettersOf(word);
  for (const entry of entries) {
    if ((entry.letters & letters) !== letters) continue;
    const { lower, base } = entry;
    const at = lower.indexOf(word);
    if (at === -1) {
      if (others.length < MOST_LOOSE && hasInOrder(lower, word)) others.push(entry);
      continue;
    }
    const group = lower.startsWith(word, base) ? 0 : at === 0 ? 1 : at >= base || lower.includes(word, base) ? 2 : 3;
    const members = exact[group];
    if (members !== undefined && members.length < limit) members.push(entry);
    if (group === 0 && members?.length === limit) break;
  }
  return { exact, others };
}

function hasInOrder(text: string, word: string): boolean {
  let at = -1;
  for (const letter of word) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return false;
  }
  return true;
}

function looseMatches(entries: readonly Entry[], word: string, limit: number): readonly Entry[] {
  const last = word.slice(word.lastIndexOf("/") + 1);
  const scored = entries.map((entry) => {
    const name = looseScore(last, entry.lower.slice(entry.base));
    return { entry, score: name === undefined ? (looseScore(word, entry.lower) ?? 0) : name - 100 };
  });
  scored.sort((a, b) => a.score - b.score);
  return scored.slice(0, limit).map(({ entry }) => entry);
}

/** The most names to index. */
const MOST_FILES = 300_000;
/** The time limit; a larger tree is indexed in part. */
const MOST_MS = 10_000;

export class WorkspaceFiles {
  readonly #clock: Clock;
  readonly #path: string | undefined;
  readonly #byRoot: BudgetedCache<FileIndex> = processCache("file names");

  /** `path`: the PATH variable, where ripgrep may be. */
  constructor(clock: Clock, path: string | undefined) {
    this.#clock = clock;
    this.#path = path;
  }

  async find(root: string, query: string, { limit }: { readonly limit: number }): Promise<readonly string[]> {
    const known = this.#byRoot.get(root);
    const index = known ?? new FileIndex({ list: () => this.#list(root), clock: this.#clock });
    // Kept at once, so that the next letter does not list the folder again.
    if (known === undefined) this.#byRoot.set(root, index, 0);
    const found = await index.find(query, limit);
    this.#byRoot.set(root, index, index.bytes);
    return found;
  }

  async #list(root: string): Promise<readonly string[]> {
    const searcher = new Searcher(await Workspace.open(root), { path: this.#path, avoid: [root] });
    return searcher.names(".", { limit: MOST_FILES, signal: AbortSignal.timeout(MOST_MS) });
  }
}
