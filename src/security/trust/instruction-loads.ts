/** Decides which instruction files a conversation has got, and why. */
import { join } from "node:path";
import type { TrustedItem } from "./content.js";

/** An instruction file that the model gets, and why. */
export interface InstructionLoad {
  readonly path: string;
  readonly owner: TrustedItem["owner"];
  readonly sha256: string;
  readonly reason: "session_start" | "nested_traversal" | "path_glob_match" | "include";
  readonly globs?: readonly string[];
  /** The file whose use brought it. */
  readonly trigger?: string;
  /** The file that includes it. */
  readonly parent?: string;
}

export class InstructionLoads {
  #list: readonly InstructionLoad[];

  constructor(list: readonly InstructionLoad[] = []) {
    this.#list = list;
  }

  /** Oldest first. */
  get list(): readonly InstructionLoad[] {
    return this.#list;
  }

  /** Those of a conversation that has only the files of the start. */
  ofStart(): InstructionLoads {
    return new InstructionLoads(this.#list.filter(({ trigger }) => trigger === undefined));
  }

  /** A file of the start that is loaded again counts if it changed. */
  add({ root, path, owner, sha256 }: TrustedItem, why: Omit<InstructionLoad, "path" | "owner" | "sha256">): void {
    const load = { path: join(root, path), owner, sha256, ...why };
    const isSame = (known: InstructionLoad) =>
      known.path === load.path && known.sha256 === sha256 && known.parent === load.parent;
    if (load.trigger === undefined && this.#list.some(isSame)) return;
    this.#list = [...this.#list, load];
  }
}
