/** Blank lines between the parts of the conversation: between the user's text, the model's text and its calls. */
import type { Block } from "./block.js";

type Kind = Block["kind"];

/** No blank line between these: calls and notices. */
const CLOSE: ReadonlySet<Kind> = new Set(["tool", "thinking", "notice"]);

export class Spacing {
  #last: Kind | undefined;

  /** The blank line before a block of this kind, if it came next. */
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
