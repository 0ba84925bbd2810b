/** Code between fences: each complete line is final. */
import { endsFence, type Fence, indentOf } from "./markdown-lines.js";
import type { Page } from "./page.js";
import type { ContentTools, Highlighter } from "./tools.js";
import { breakLine } from "./wrap.js";

interface CodeText {
  readonly text: string;
  /** More of the same line follows. */
  readonly isOpen: boolean;
}

export class FencedCode {
  readonly #fence: Fence;
  #highlighter: Highlighter;
  #isEmpty = true;
  /** The row on the screen that a very long line continues. */
  #carry = "";

  constructor(fence: Fence, { highlighter }: ContentTools) {
    this.#fence = fence;
    this.#highlighter = highlighter(fence.language);
  }

  fork(): FencedCode {
    const copy = new FencedCode(this.#fence, { highlighter: () => this.#highlighter });
    copy.#isEmpty = this.#isEmpty;
    copy.#carry = this.#carry;
    return copy;
  }

  line({ text, isOpen }: CodeText, page: Page): "open" | "closed" {
    if (!isOpen && endsFence(this.#fence, text)) return "closed";
    const code = text.slice(Math.min(indentOf(text), this.#fence.indent));
    if (isOpen) this.part({ text: code, isOpen }, page);
    else this.#write(code, page);
    return "open";
  }

  /** Prints whole rows of a very long line. */
  part({ text, isOpen }: CodeText, page: Page): void {
    const code = this.#carry + text;
    const start = isOpen ? (breakLine(code, page.place().width, "anywhere").at(-1)?.start ?? 0) : code.length;
    this.#carry = code.slice(start);
    if (start > 0) this.#write(code.slice(0, start), page);
  }

  end(page: Page): void {
    if (this.#carry !== "") this.#write(this.#carry, page);
  }

  #write(code: string, page: Page): void {
    const { spans, next } = this.#highlighter.line(code);
    this.#highlighter = next;
    if (this.#isEmpty) page.gap("code");
    this.#isEmpty = false;
    page.write(spans, "anywhere");
  }
}
