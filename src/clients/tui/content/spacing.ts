/** Blank lines between the parts of the conversation: between what a person says, what the model says and what it does. */
import type { Block } from "./block.js";

type Kind = Block["kind"];

/** These stand close together: a call below a call, a notice beside them. */
const CLOSE: ReadonlySet<Kind> = new Set(["tool", "thinking", "notice"]);

export class Spacing {
  #last: Kind | undefined;

  /** What stands before a block of this kind, if it came next. */
  ahead(kind: Kind): readonly string[] {
    const last = this.#last;
    if (last === undefined || (last === "answer" && kind === "answer")) return [];
    return CLOSE.has(last) && CLOSE.has(kind) ? [] : [""];
  }

  /** The same for one that is printed now. An answer in several parts is one. */
  before(kind: Kind): readonly string[] {
    const lines = this.ahead(kind);
    this.#last = kind;
    return lines;
  }
}
