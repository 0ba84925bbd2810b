/**
 * Collects the findings of a search in any order, and keeps the first by path.
 *
 * 1. The result does not depend on the order of arrival.
 * 2. Memory depends on the limit, not on the number of findings.
 */
import { comparePaths, type FoundFile, type SearchRequest } from "./search-request.js";

export interface Findings {
  /** By path; together within the limit. */
  readonly files: readonly FoundFile[];
  readonly totalFiles: number;
  readonly totalCount: number;
  /** The totals are too low, because the search stopped early. */
  readonly isPartial: boolean;
}

export interface Withholding {
  /** A path to hide completely. Even its count is hidden, because a count would answer guesses about its content. */
  readonly isWithheld?: (path: string) => boolean;
  /** `settle` decides about such a path. */
  readonly isDoubtful?: (path: string) => boolean;
}

export class FoundFiles {
  readonly #limit: number;
  readonly #isWithheld: (path: string) => boolean;
  readonly #isDoubtful: (path: string) => boolean;
  readonly #weigh: (file: FoundFile) => number;
  #doubtful: FoundFile[] = [];
  #files: FoundFile[] = [];
  #weight = 0;
  /** The limit is reached: files after this path are not needed. */
  #last: string | undefined;
  #totalFiles = 0;
  #totalCount = 0;
  #isPartial = false;

  constructor(
    { mode, limit }: Pick<SearchRequest, "mode" | "limit">,
    { isWithheld = () => false, isDoubtful = () => false }: Withholding = {},
  ) {
    this.#isDoubtful = isDoubtful;
    this.#limit = limit;
    this.#isWithheld = isWithheld;
    this.#weigh = mode === "content" ? (file) => Math.min(file.count, limit) : () => 1;
  }

  get totalCount(): number {
    return this.#doubtful.reduce((sum, { count }) => sum + count, this.#totalCount);
  }

  add(file: FoundFile): void {
    if (this.#isWithheld(file.path)) return;
    if (this.#isDoubtful(file.path)) this.#doubtful.push(file);
    else this.#keep(file);
  }

  /** Adds the doubtful ones that may be shown. */
  async settle(mayShow: (path: string) => Promise<boolean>): Promise<void> {
    for (const file of this.#doubtful.splice(0)) if (await mayShow(file.path)) this.#keep(file);
  }

  #keep(file: FoundFile): void {
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
    this.#doubtful = [];
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

  /** Keeps files in order until the limit is reached; the last one may exceed it and is cut for display. */
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
