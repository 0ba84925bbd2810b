/**
 * An answer that arrives in pieces.
 *
 * 1. `push` only stores the piece. `take` lays out the new text, and returns every finished line exactly once.
 * 2. The finished lines do not depend on how the answer was split into pieces. A new width or theme applies from then on.
 * 3. The time of `take` depends on the new text and the open block, not on the length of the answer.
 */
import { SafeTextStream } from "../../../base/terminal-text.js";
import { MarkdownLayout } from "./markdown-layout.js";
import { type LayoutView, Page } from "./page.js";

export interface Taken {
  /** Print these; they never change. */
  readonly finished: readonly string[];
  /** The laid-out part of the open block. */
  readonly live: readonly string[];
}

/** A longer line is processed in pieces. */
const MAX_LINE = 1024;

export class AnswerStream {
  readonly #safe = new SafeTextStream();
  #pieces: string[] = [];
  /** The last line, without its end. */
  #rest = "";
  #continues = false;
  #layout: MarkdownLayout | undefined;
  #live: { readonly view: LayoutView; readonly lines: readonly string[] } | undefined;

  push(delta: string): void {
    if (delta !== "") this.#pieces.push(delta);
  }

  take(view: LayoutView): Taken {
    const layout = this.#layoutFor(view);
    if (this.#pieces.length > 0) {
      const text = this.#pieces.join("");
      this.#pieces = [];
      this.#feed(layout, this.#safe.push(text));
    }
    return { finished: this.#collect(layout), live: this.#liveLines(layout, view) };
  }

  /** The rest of the answer. The stream starts again after it. */
  end(view: LayoutView): readonly string[] {
    const layout = this.#layoutFor(view);
    this.#feed(layout, this.#safe.push(this.#pieces.join("")) + this.#safe.end());
    this.#pieces = [];
    if (this.#rest !== "") layout.line({ text: this.#rest, continues: this.#continues });
    this.#rest = "";
    this.#continues = false;
    layout.end();
    this.#layout = undefined;
    this.#live = undefined;
    return layout.page.out;
  }

  #layoutFor(view: LayoutView): MarkdownLayout {
    this.#layout ??= new MarkdownLayout(new Page(view));
    this.#layout.page.view = view;
    return this.#layout;
  }

  #feed(layout: MarkdownLayout, text: string): void {
    if (text === "") return;
    this.#live = undefined;
    const source = this.#rest + text;
    let from = 0;
    for (;;) {
      const newline = source.indexOf("\n", from);
      const end = newline === -1 ? source.length : newline;
      if (end - from > MAX_LINE) {
        const cut = from + MAX_LINE + (isLow(source.charCodeAt(from + MAX_LINE)) ? 1 : 0);
        layout.line({ text: source.slice(from, cut), isOpen: true, continues: this.#continues });
        this.#continues = true;
        from = cut;
      } else if (newline !== -1) {
        layout.line({ text: source.slice(from, newline), continues: this.#continues });
        this.#continues = false;
        from = newline + 1;
      } else break;
    }
    this.#rest = source.slice(from);
  }

  #collect(layout: MarkdownLayout): readonly string[] {
    const lines = layout.page.out;
    layout.page.out = [];
    return lines;
  }

  #liveLines(layout: MarkdownLayout, view: LayoutView): readonly string[] {
    const kept = this.#live;
    const isKept = kept !== undefined && kept.view.width === view.width && kept.view.theme === view.theme;
    if (isKept && kept.view.tools === view.tools) return kept.lines;
    const fork = layout.fork();
    if (this.#rest !== "") fork.line({ text: this.#rest, continues: this.#continues });
    fork.end();
    this.#live = { view, lines: fork.page.out };
    return fork.page.out;
  }
}

/** Markdown as a whole. */
export function renderMarkdown(text: string, view: LayoutView): readonly string[] {
  const stream = new AnswerStream();
  stream.push(text);
  return stream.end(view);
}

/** The second half of a pair: a cut before it would break the character. */
function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
