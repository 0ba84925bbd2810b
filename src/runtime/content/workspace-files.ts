/** The files of a workspace for completion, one index for each folder. It obeys ignore rules and does not follow links. */
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
  readonly #byRoot = new Map<string, FileIndex>();

  /** `path`: the PATH variable, where ripgrep may be. */
  constructor(clock: Clock, path: string | undefined) {
    this.#clock = clock;
    this.#path = path;
  }

  find(root: string, query: string, { limit }: { readonly limit: number }): Promise<readonly string[]> {
    let index = this.#byRoot.get(root);
    if (index === undefined) {
      index = new FileIndex({ list: () => this.#list(root), clock: this.#clock });
      this.#byRoot.set(root, index);
    }
    return index.find(query, limit);
  }

  async #list(root: string): Promise<readonly string[]> {
    const searcher = new Searcher(await Workspace.open(root), { path: this.#path, avoid: [root] });
    return searcher.names(".", { limit: MOST_FILES, signal: AbortSignal.timeout(MOST_MS) });
  }
}
