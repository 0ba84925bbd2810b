/**
 * The repositories, guarded names and names of secret files below a folder, also those that appear while a session runs.
 *
 * 1. A search takes some microseconds per folder. Unless something may have changed (`mayHaveChanged`), a result stays valid for a few
 *    times as long as the search took, so that searching takes only a small part of the time.
 * 2. A found entry stays found while it exists: a command that makes thousands of folders cannot push it out of
 *    the search.
 */
import { join, relative, sep } from "node:path";
import type { Clock } from "../../base/clock.js";
import { gitFolderAt, isThere } from "../../system/git/git-folder.js";
import { RepositoryWalk } from "../../system/git/repository-walk.js";
import { guardedEntries } from "./guarded-names.js";
import { secretEntries } from "./secret-entries.js";

const MAX_FOLDERS = 4000;
const MAX_DEPTH = 12;
const REST_FACTOR = 10;

export interface WorkTreeSearchOptions {
  readonly clock: Pick<Clock, "now" | "wall">;
  readonly maxFolders?: number;
}

/** Names in one folder. */
interface Names {
  readonly guarded: readonly string[];
  readonly secret: readonly string[];
}

export class WorkTreeSearch {
  readonly #root: string;
  readonly #clock: Pick<Clock, "now" | "wall">;
  readonly #walk: RepositoryWalk<Names>;
  #found: readonly string[] = [];
  #named: readonly string[] = [];
  #secret: readonly string[] = [];
  #restsUntil = Number.NEGATIVE_INFINITY;

  /** `root` must be free of links. */
  constructor(root: string, { clock, maxFolders = MAX_FOLDERS }: WorkTreeSearchOptions) {
    this.#root = root;
    this.#clock = clock;
    const note = (folder: string, names: readonly string[]): Names => {
      const way = relative(root, folder).replaceAll(sep, "/");
      return {
        guarded: guardedEntries(way, names).filter((name) => name !== ".git"),
        secret: secretEntries(way, names),
      };
    };
    this.#walk = new RepositoryWalk(root, { wall: () => clock.wall(), maxFolders, maxDepth: MAX_DEPTH, note });
  }

  /** To be called after a program ran: the next answer comes from a new search. */
  mayHaveChanged(): void {
    this.#restsUntil = Number.NEGATIVE_INFINITY;
  }

  /** Folders that hold a `.git` or are a bare repository, nearest first; the root itself is not among them. */
  find(): readonly string[] {
    const started = this.#clock.now();
    if (started < this.#restsUntil) return this.#found;
    const { repositories, notes } = this.#walk.now();
    const found = repositories.filter((folder) => folder !== this.#root);
    const before = this.#found.filter((folder) => !found.includes(folder) && gitFolderAt(folder) !== undefined);
    this.#found = [...found, ...before];
    const pathsOf = (kind: keyof Names) =>
      [...notes].flatMap(([folder, names]) => (names?.[kind] ?? []).map((name) => join(folder, name)));
    this.#named = withEarlier(pathsOf("guarded"), this.#named);
    this.#secret = withEarlier(pathsOf("secret"), this.#secret);
    const ended = this.#clock.now();
    this.#restsUntil = ended + (ended - started) * REST_FACTOR;
    return this.#found;
  }

  /** Everything that has a guarded name, nearest first. */
  named(): readonly string[] {
    this.find();
    return this.#named;
  }

  /** Everything that has the name of a secret file or of a folder of them, nearest first. */
  secret(): readonly string[] {
    this.find();
    return this.#secret;
  }
}

function withEarlier(found: readonly string[], earlier: readonly string[]): readonly string[] {
  const known = new Set(found);
  return [...known, ...earlier.filter((path) => !known.has(path) && isThere(path))];
}
