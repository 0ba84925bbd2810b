/**
 * The repositories and guarded names below a folder. All of it is searched, when a turn begins and after a program changed the folder directly
 * (`mayHaveChanged`). Within a turn only a person makes one: the gate asks about those of commands.
 */
import { join, relative, sep } from "node:path";
import type { Clock } from "../../base/clock.js";
import { RepositoryWalk, type Walked } from "../../system/git/repository-walk.js";
import { guardedEntries } from "./guarded-names.js";

export class WorkTreeSearch {
  readonly #root: string;
  readonly #walk: RepositoryWalk<readonly string[]>;
  #found: Walked<readonly string[]> | undefined;

  /** `root` must be free of links. */
  constructor(root: string, { clock }: { readonly clock: Pick<Clock, "wall"> }) {
    this.#root = root;
    const note = (folder: string, names: readonly string[]) =>
      guardedEntries(relative(root, folder).replaceAll(sep, "/"), names).filter((name) => name !== ".git");
    this.#walk = new RepositoryWalk(root, { wall: () => clock.wall(), note });
  }

  /** The next answer comes from a new search. */
  mayHaveChanged(): void {
    this.#found = undefined;
  }

  /** Folders that hold a `.git` or are a bare repository, nearest first; the root itself is not among them. */
  find(): readonly string[] {
    return this.#walked().repositories.filter((folder) => folder !== this.#root);
  }

  /** Everything that has a guarded name, nearest first. */
  named(): readonly string[] {
    return [...this.#walked().notes].flatMap(([folder, names = []]) => names.map((name) => join(folder, name)));
  }

  #walked(): Walked<readonly string[]> {
    this.#found ??= this.#walk.now();
    return this.#found;
  }
}
