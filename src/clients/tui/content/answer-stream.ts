/**
 * An answer that arrives in pieces.
 *
 * 1. `push` only stores the piece. `take` lays out the new text, and returns every finished line exactly once.
 * 2. The lines of the source are grouped into parts, each of which marked lexes alone: a paragraph, an item of a list, a quote, a table. A
 *    part that is over is frozen. Code between fences is frozen line by line.
 * 3. The finished lines do not depend on how the answer was split into pieces. A new width or theme applies from then on.
 * 4. The time of `take` depends on the new text and the open part, which is bounded, not on the length of the answer.
 * 5. Blank lines are those of the source, never two in a row. One is added around code, tables, quotes and before headings.
 */
import { SafeTextStream } from "../../../base/terminal-text.js";
import { CONTINUED } from "../terminal/fit-line.js";
import {
  type Counted,
  countOf,
  type Kind,
  type Laid,
  type LayoutView,
  layoutBlocks,
  layoutProse,
  layoutRows,
  needsGap,
} from "./block-layout.js";
import { parseInline, safeCut } from "./inline.js";
import {
  endsFence,
  type Fence,
  fenceStart,
  indentOf,
  isHeading,
  isQuote,
  isRule,
  isUnderline,
  listMarker,
  startsBlock,
  tableCells,
  tableRule,
  withoutLeadingTabs,
} from "./markdown-lines.js";
import { codeMarkOf, plainText, type Span } from "./spans.js";
import type { Highlighter } from "./tools.js";
import { breakLine, wrapSpans } from "./wrap.js";

export type { LayoutView };

export interface Taken {
  /** Print these; they never change. */
  readonly finished: readonly string[];
  /** The laid-out open part. */
  readonly live: readonly string[];
}

/** A longer line is processed in pieces. */
const MAX_LINE = 1024;
/** A paragraph of this length gives away what is final. */
const LONG_PARAGRAPH = 1024;
const MANY_LINES = 16;
/** A mark that is not closed within this many characters is text. */
const MAX_OPEN = 4096;
/** Any other part ends at this length. */
const MAX_PART = 8192;
/** The rows to show of an unfinished table. */
const DRAFT_ROWS = 12;

export class AnswerStream {
  readonly #safe = new SafeTextStream();
  #pieces: string[] = [];
  /** The last line, without its end. */
  #rest = "";
  /** A part of the last line has been processed. */
  #continues = false;
  #parts = new Parts();
  #live: { readonly view: LayoutView; readonly lines: readonly string[] } | undefined;

  push(delta: string): void {
    if (delta !== "") this.#pieces.push(delta);
  }

  take(view: LayoutView): Taken {
    if (this.#pieces.length > 0) {
      const text = this.#pieces.join("");
      this.#pieces = [];
      this.#feed(this.#safe.push(text), view);
    }
    return { finished: this.#parts.takeLines(), live: this.#liveLines(view) };
  }

  /** The rest of the answer. The stream starts again after it. */
  end(view: LayoutView): readonly string[] {
    this.#feed(this.#safe.push(this.#pieces.join("")) + this.#safe.end(), view);
    this.#pieces = [];
    if (this.#rest !== "") this.#parts.line(this.#rest, { view, continues: this.#continues, isOpen: false });
    this.#rest = "";
    this.#continues = false;
    this.#parts.end(view);
    const lines = this.#parts.takeLines();
    this.#parts = new Parts();
    this.#live = undefined;
    return lines;
  }

  #feed(text: string, view: LayoutView): void {
    if (text === "") return;
    this.#live = undefined;
    const source = this.#rest + text;
    let from = 0;
    for (;;) {
      const newline = source.indexOf("\n", from);
      const end = newline === -1 ? source.length : newline;
      if (end - from > MAX_LINE) {
        const cut = from + MAX_LINE + (isLow(source.charCodeAt(from + MAX_LINE)) ? 1 : 0);
        this.#parts.line(source.slice(from, cut), { view, continues: this.#continues, isOpen: true });
        this.#continues = true;
        from = cut;
      } else if (newline !== -1) {
        this.#parts.line(source.slice(from, newline), { view, continues: this.#continues, isOpen: false });
        this.#continues = false;
        from = newline + 1;
      } else break;
    }
    this.#rest = source.slice(from);
  }

  #liveLines(view: LayoutView): readonly string[] {
    const kept = this.#live;
    const isKept = kept !== undefined && kept.view.width === view.width && kept.view.theme === view.theme;
    if (isKept && kept.view.tools === view.tools) return kept.lines;
    const copy = this.#parts.copy();
    if (this.#rest !== "") copy.line(this.#rest, { view, continues: this.#continues, isOpen: false });
    copy.end(view);
    const lines = copy.takeLines();
    this.#live = { view, lines };
    return lines;
  }
}

/** Markdown as a whole. */
export function renderMarkdown(text: string, view: LayoutView): readonly string[] {
  const stream = new AnswerStream();
  stream.push(text);
  return stream.end(view);
}

interface LineOptions {
  readonly view: LayoutView;
  /** It continues the last piece. */
  readonly continues: boolean;
  /** More of the same line follows. */
  readonly isOpen: boolean;
}

type PartKind = "none" | "paragraph" | "item" | "quote" | "table" | "indented" | "fence";

/** The parts of an answer. It never changes its lists in place, so that a copy is cheap. */
class Parts {
  #out: string[] = [];
  #kind: PartKind = "none";
  /** The open part. */
  #lines: readonly string[] = [];
  #length = 0;
  /** Of an item: the columns before its text. */
  #indent = 0;
  /** The open fence of the part, or of code in an item. */
  #fence: Fence | undefined;
  #highlighter: Highlighter | undefined;
  /** The beginning of the row that a long paragraph or a long line of code continues. */
  #carry: readonly Span[] = [];
  #codeCarry = "";
  /** What is written next continues the last row. */
  #continues = false;
  #counted: Counted | undefined;
  /** The columns of a table whose beginning is frozen. */
  #columns: readonly number[] | undefined;
  #last: Kind | undefined;
  #isBlank = false;
  #isDraft = false;

  copy(): Parts {
    const copy = new Parts();
    copy.#kind = this.#kind;
    copy.#lines = this.#lines;
    copy.#length = this.#length;
    copy.#indent = this.#indent;
    copy.#fence = this.#fence;
    copy.#highlighter = this.#highlighter;
    copy.#carry = this.#carry;
    copy.#codeCarry = this.#codeCarry;
    copy.#continues = this.#continues;
    copy.#counted = this.#counted;
    copy.#columns = this.#columns;
    copy.#last = this.#last;
    copy.#isBlank = this.#isBlank;
    copy.#isDraft = true;
    return copy;
  }

  takeLines(): readonly string[] {
    const lines = this.#out;
    this.#out = [];
    return lines;
  }

  line(source: string, { view, continues, isOpen }: LineOptions): void {
    if (continues) this.#extend(source, view, isOpen);
    else if (this.#kind === "fence") this.#code(withoutLeadingTabs(source), view, isOpen);
    else this.#take(withoutLeadingTabs(source), view, isOpen);
    if (this.#kind === "paragraph") this.#shorten(view);
    else if (this.#length > MAX_PART) this.#split(view);
  }

  end(view: LayoutView): void {
    if (this.#kind === "fence") this.#endCode(view);
    else this.#finish(view);
  }

  #take(line: string, view: LayoutView, isOpen: boolean): void {
    const kind = this.#kind;
    if (line.trim() === "") {
      if (kind === "item" || kind === "indented") this.#add("");
      else {
        this.#finish(view);
        this.#isBlank = true;
      }
    } else if (kind === "none") this.#start(line, view, isOpen);
    else if (kind === "paragraph") this.#inParagraph(line, view, isOpen);
    else if (this.#contains(line)) this.#add(line);
    else {
      this.#finish(view);
      this.#start(line, view, isOpen);
    }
  }

  #start(line: string, view: LayoutView, isOpen: boolean): void {
    const fence = isOpen || indentOf(line) > 3 ? undefined : fenceStart(line);
    const marker = listMarker(line);
    if (marker === undefined || indentOf(line) > 3) this.#counted = undefined;
    if (fence !== undefined) {
      this.#kind = "fence";
      this.#fence = fence;
      this.#highlighter = view.tools.highlighter(fence.language);
      return;
    }
    this.#kind =
      indentOf(line) > 3 ? "indented" : isQuote(line) ? "quote" : marker === undefined ? "paragraph" : "item";
    this.#indent = marker?.indent ?? 0;
    this.#add(line);
    if (this.#kind === "paragraph" && !isOpen && (isHeading(line) || isRule(line))) this.#finish(view);
  }

  #inParagraph(line: string, view: LayoutView, isOpen: boolean): void {
    const align = isOpen || this.#carry.length > 0 ? undefined : tableRule(line);
    const head = this.#lines.at(-1) ?? "";
    if (align !== undefined && head.includes("|") && tableCells(head).length === align.length) {
      this.#drop(1);
      this.#finish(view);
      this.#kind = "table";
      for (const each of [head.trim(), line]) this.#add(each);
    } else if (isUnderline(line) && this.#lines.length === 1 && this.#carry.length === 0) {
      this.#add(line);
      this.#finish(view);
    } else if (startsBlock(line)) {
      this.#finish(view);
      this.#start(line, view, isOpen);
    } else this.#add(line);
  }

  /** Whether the line belongs to the open part. */
  #contains(line: string): boolean {
    const previous = this.#lines.at(-1) ?? "";
    if (this.#kind === "indented") return indentOf(line) > 3;
    if (this.#kind === "table") return line.includes("|") && !startsBlock(line);
    if (this.#kind === "quote") return isQuote(line) || (!startsBlock(line) && !isBareQuote(previous));
    if (indentOf(line) >= Math.min(2, this.#indent)) return true;
    return previous !== "" && this.#fence === undefined && !startsBlock(line) && listMarker(line) === undefined;
  }

  #add(line: string): void {
    const added = this.#kind === "item" ? this.#inItem(line) : line;
    this.#lines = [...this.#lines, added];
    this.#length += added.length + 1;
  }

  /** Follows code in an item. Many models indent what is below `1.` by two columns. */
  #inItem(line: string): string {
    const isFirst = this.#lines.length === 0;
    const text = isFirst ? line.slice(this.#indent) : line;
    if (this.#fence !== undefined) {
      if (endsFence(this.#fence, text)) this.#fence = undefined;
    } else this.#fence = fenceStart(text);
    if (isFirst || line === "" || indentOf(line) >= this.#indent || indentOf(line) < 2) return line;
    return " ".repeat(this.#indent - indentOf(line)) + line;
  }

  #drop(count: number): void {
    this.#lines = this.#lines.slice(0, -count);
  }

  /** The rest of a very long line, in pieces. */
  #extend(part: string, view: LayoutView, isOpen: boolean): void {
    if (this.#kind === "fence") {
      this.#codePart(part, view, isOpen);
      return;
    }
    // A line that was its own part, or one whose part is full, goes on as text.
    if (this.#kind === "none") this.#kind = "paragraph";
    this.#lines = [...this.#lines.slice(0, -1), (this.#lines.at(-1) ?? "") + part];
    this.#length += part.length;
  }

  /** Lays out the open part. */
  #finish(view: LayoutView): void {
    const kind = this.#kind;
    let count = this.#lines.length;
    while (count > 0 && this.#lines[count - 1] === "") count--;
    const isBlankAfter = count < this.#lines.length;
    const source = this.#lines.slice(0, count).join("\n");
    const laid = this.#layout(kind, source, view);
    if (laid !== undefined) this.#write(laid);
    if (kind === "item") this.#counted = countOf(source, this.#counted);
    this.#kind = "none";
    this.#lines = [];
    this.#length = 0;
    this.#fence = undefined;
    this.#carry = [];
    this.#columns = undefined;
    if (isBlankAfter) this.#isBlank = true;
  }

  #layout(kind: PartKind, source: string, view: LayoutView): Laid | undefined {
    if (kind === "table") return this.#rows(source, view).laid;
    if (kind === "paragraph" && this.#carry.length > 0) {
      return layoutProse([...this.#carry, ...parseInline(source, codeMarkOf(view.theme))], view);
    }
    return source === "" ? undefined : layoutBlocks(source, view, this.#counted);
  }

  #rows(source: string, view: LayoutView) {
    const [head = "", rule = "", ...rows] = source.split("\n");
    const shown = this.#isDraft ? rows.slice(-DRAFT_ROWS) : rows;
    return (
      layoutRows([head, rule, ...shown].join("\n"), view, this.#columns) ?? { laid: undefined, columns: undefined }
    );
  }

  /** Freezes the part of a long paragraph that later text cannot change. */
  #shorten(view: LayoutView): void {
    const isLong = this.#length >= LONG_PARAGRAPH || this.#lines.length > MANY_LINES;
    if (this.#isDraft || !isLong) return;
    // The last line may be the head of a table.
    const kept = this.#lines.length > 1 ? this.#lines.slice(-1) : [];
    const source = this.#lines.slice(0, this.#lines.length - kept.length).join("\n");
    const cut = safeCut(source) || (source.length > MAX_OPEN ? source.length : 0);
    if (cut === 0) return;
    const spans = [...this.#carry, ...parseInline(source.slice(0, cut), codeMarkOf(view.theme))];
    const { done, carry, isCut } = splitLast(spans, view);
    if (done.length > 0) this.#write(layoutProse(done, view));
    this.#carry = carry;
    this.#continues = isCut && view.soft === true;
    this.#lines = [...source.slice(cut).split("\n"), ...kept];
    this.#length = this.#lines.join("\n").length;
  }

  /** Freezes a part that is too long. The rest of a table keeps its head and its columns. */
  #split(view: LayoutView): void {
    if (this.#isDraft) return;
    if (this.#kind !== "table") {
      this.#finish(view);
      return;
    }
    const head = this.#lines.slice(0, 2);
    const { laid, columns } = this.#rows(this.#lines.join("\n"), view);
    if (laid !== undefined) this.#write(laid);
    this.#columns = columns;
    this.#lines = head;
    this.#length = head.join("\n").length;
  }

  #code(line: string, view: LayoutView, isOpen: boolean): void {
    const fence = this.#fence as Fence;
    if (!isOpen && indentOf(line) < 4 && endsFence(fence, line)) {
      this.#endCode(view);
      return;
    }
    const code = line.slice(Math.min(indentOf(line), fence.indent));
    if (isOpen) this.#codePart(code, view, isOpen);
    else this.#writeCode(code, view);
  }

  /** Prints whole rows of a very long line. */
  #codePart(text: string, view: LayoutView, isOpen: boolean): void {
    const code = this.#codeCarry + text;
    const start = isOpen ? (breakLine(code, view.width, "anywhere").at(-1)?.start ?? 0) : code.length;
    this.#codeCarry = code.slice(start);
    if (start === 0) return;
    this.#writeCode(code.slice(0, start), view);
    this.#continues = isOpen && view.soft === true;
  }

  #endCode(view: LayoutView): void {
    if (this.#codeCarry !== "") this.#writeCode(this.#codeCarry, view);
    this.#codeCarry = "";
    this.#kind = "none";
    this.#fence = undefined;
    // Code after code is apart.
    if (this.#last === "code") this.#isBlank = true;
  }

  #writeCode(code: string, { width, theme, soft }: LayoutView): void {
    const { spans, next } = (this.#highlighter as Highlighter).line(code);
    this.#highlighter = next;
    const lines = wrapSpans(spans, { width, theme, soft, at: "anywhere" });
    if (this.#last === "code" && !this.#isBlank) this.#push(lines);
    else this.#write({ lines, first: "code", last: "code" });
  }

  #push(lines: readonly string[]): void {
    for (const [index, line] of lines.entries())
      this.#out.push(index === 0 && this.#continues ? CONTINUED + line : line);
    this.#continues = false;
  }

  #write({ lines, first, last }: Laid): void {
    const isSame = this.#carry.length > 0 && this.#last === "prose";
    const isRest = first === "table" && this.#columns !== undefined;
    if (this.#last !== undefined && !isSame && !isRest && (this.#isBlank || needsGap(this.#last, first)))
      this.#out.push("");
    this.#push(lines);
    this.#isBlank = false;
    this.#last = last;
  }
}

/** A quote's line without text: a line without a mark does not continue it. */
function isBareQuote(line: string): boolean {
  return /^[ >]*$/.test(line);
}

interface Split {
  /** All screen lines except the last. */
  readonly done: readonly Span[];
  readonly carry: readonly Span[];
  /** Both are of one line. */
  readonly isCut: boolean;
}

function splitLast(spans: readonly Span[], { width, soft }: LayoutView): Split {
  const text = plainText(spans);
  const from = text.lastIndexOf("\n") + 1;
  const start = from + (breakLine(text.slice(from), width, soft ? "anywhere" : "words").at(-1)?.start ?? 0);
  const done: Span[] = [];
  const carry: Span[] = [];
  let at = 0;
  for (const each of spans) {
    const cut = Math.min(each.text.length, Math.max(0, start - at));
    if (cut > 0) done.push({ ...each, text: each.text.slice(0, cut) });
    if (cut < each.text.length) carry.push({ ...each, text: each.text.slice(cut) });
    at += each.text.length;
  }
  const last = done.at(-1);
  // The break itself belongs to neither.
  if (last?.text.endsWith("\n")) done[done.length - 1] = { ...last, text: last.text.slice(0, -1) };
  return { done, carry, isCut: start > from };
}

/** The second half of a pair: a cut before it would break the character. */
function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
