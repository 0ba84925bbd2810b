/** The repositories in an index (submodules), which git enters automatically. A split index has its entries in several files. */
import { join } from "node:path";
import { namesIn } from "../names-in.js";
import { statOf } from "./git-folder.js";
import { readIndexFile } from "./index-file.js";

export interface Linked {
  /** Paths from the top of the work tree. */
  readonly paths: readonly string[];
  /** Files of the index that are not understood and may hold more. */
  readonly obscure: readonly string[];
}

export class LinkedRepositories {
  readonly #known = new Map<string, { readonly look: string; readonly linked: Linked }>();

  in(gitFolder: string): Linked {
    const names = ["index", ...namesIn(gitFolder).filter((name) => name.startsWith("sharedindex."))];
    const parts = names.map((name) => this.#read(join(gitFolder, name)));
    return { paths: parts.flatMap(({ paths }) => paths), obscure: parts.flatMap(({ obscure }) => obscure) };
  }

  /** An index can be large: it is read again only when it has changed. */
  #read(file: string): Linked {
    const found = statOf(file);
    if (found === undefined) return { paths: [], obscure: [] };
    const look = [found.ino, found.size, found.mtimeMs, found.ctimeMs].join(" ");
    const known = this.#known.get(file);
    if (known?.look === look) return known.linked;
    const content = readIndexFile(file);
    const linked =
      content === undefined ? { paths: [], obscure: [file] } : { paths: content.repositories, obscure: [] };
    this.#known.set(file, { look, linked });
    return linked;
  }
}
