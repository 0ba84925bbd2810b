/** The files of a workspace for completion, one index for each folder. It obeys ignore rules and does not follow links. */
import { type BudgetedCache, processCache } from "../../base/cache-budget.js";
import type { Clock } from "../../base/clock.js";
import { Searcher } from "../../tools/search/searcher.js";
import { Workspace } from "../../tools/workspace.js";
import { FileIndex } from "./file-index.js";

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
