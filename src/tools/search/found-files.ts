/**
 * Collects the findings of a search in any order, and keeps the first by path.
 *
 * 1. What is kept does not depend on the order of arrival.
 * 2. Memory is bounded by the limit, not by what is found.
 */
import { comparePaths, type FoundFile, type SearchRequest } from "./search-request.js";

export interface Findings {
  /** By path; together within the limit. */
  readonly files: readonly FoundFile[];
  readonly totalFiles: number;
  readonly totalCount: number;
  /** There is more than the totals say. */
  readonly isPartial: boolean;
}

export class FoundFiles {
  readonly #limit: number;
  readonly #isWithheld: (path: string) => boolean;
  readonly #weigh: (file: FoundFile) => number;
  #files: FoundFile[] = [];
  #weight = 0;
  /** With what is kept the limit is reached: nothing that comes after this path can still count. */
  #last: string | undefined;
  #totalFiles = 0;
  #totalCount = 0;
  #isPartial = false;

  /** `isWithheld`: a path that is as if it was not there. Not even its count shows: that would answer guesses about its content. */
  constructor(
    { mode, limit }: Pick<SearchRequest, "mode" | "limit">,
    isWithheld: (path: string) => boolean = () => false,
  ) {
    this.#limit = limit;
    this.#isWithheld = isWithheld;
    this.#weigh = mode === "content" ? (file) => Math.min(file.count, limit) : () => 1;
  }

  get totalCount(): number {
    return this.#totalCount;
  }

  add(file: FoundFile): void {
    if (this.#isWithheld(file.path)) return;
    this.#totalFiles++;
    this.#totalCount += file.count;
    if (this.#last !== undefined && comparePaths(file.path, this.#last) > 0) return;
    this.#files.push(file);
    this.#weight += this.#weigh(file);
    if (this.#weight > 4 * this.#limit + 100) this.#trim();
  }

  /** Drops the findings so far, but remembers that there were more. */
  startOver(): void {
    this.#files = [];
    this.#weight = 0;
    this.#last = undefined;
    this.#totalFiles = 0;
    this.#totalCount = 0;
    this.#isPartial = true;
  }

  findings(): Findings {
    this.#trim();
    return {
      files: this.#files,
      totalFiles: this.#totalFiles,
      totalCount: this.#totalCount,
      isPartial: this.#isPartial,
    };
  }

  /** Keeps files in order until the limit is reached; the last one may go past it and is cut when shown. */
  #trim(): void {
    this.#files.sort((a, b) => comparePaths(a.path, b.path));
    let weight = 0;
    let keep = 0;
    for (; keep < this.#files.length && weight < this.#limit; keep++)
      weight += this.#weigh(this.#files[keep] as FoundFile);
    this.#files.length = keep;
    this.#weight = weight;
    if (weight >= this.#limit) this.#last = this.#files.at(-1)?.path;
  }
}
