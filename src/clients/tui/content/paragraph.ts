/**
 * A growing paragraph. The part that later text cannot change is laid out once; the rest waits.
 *
 * The cut depends only on the text, not on how it arrived, so that a stream gives the same lines as the whole text.
 */
import { finalLength, parseInline } from "./inline.js";
import { plainText, type Span } from "./spans.js";
import { breakLine } from "./wrap.js";

/** A mark that is not closed within this many characters is text. */
const MAX_OPEN = 4096;

/** The width and prefixes of a paragraph. */
export interface Place {
  /** Cells for the text. */
  readonly width: number;
  /** Written around code if no colour shows it. */
  readonly codeMark: string;
  emit(spans: readonly Span[]): void;
}

export class Paragraph {
  /** Not laid out yet. */
  text: string;
  /** Lines of the source. */
  lines = 1;
  /** The beginning of the screen line that the text continues. */
  #carry: readonly Span[] = [];

  constructor(text: string) {
    this.text = text;
  }

  fork(): Paragraph {
    const copy = new Paragraph(this.text);
    copy.lines = this.lines;
    copy.#carry = this.#carry;
    return copy;
  }

  /** Whether it can still become a heading. */
  get isWhole(): boolean {
    return this.lines === 1 && this.#carry.length === 0;
  }

  /** The last line of the source, if it is complete. */
  get lastLine(): string {
    return this.text.slice(this.text.lastIndexOf("\n") + 1);
  }

  addLine(line: string, place: Place): void {
    // A backslash at the end of a line is a break, which the newline is anyway.
    const whole = this.text.replace(/(?<!\\)((?:\\\\)*)\\$/, "$1");
    const end = finalLength(whole);
    const cut = end >= whole.length || whole.length > MAX_OPEN ? whole.length : whole.lastIndexOf("\n", end);
    if (cut > 0) {
      this.#emit(whole.slice(0, cut), place);
      this.text = cut === whole.length ? line : `${whole.slice(cut + 1)}\n${line}`;
    } else this.text = `${whole}\n${line}`;
    this.lines++;
  }

  /** The rest of a very long line, in pieces. */
  addPart(part: string, place: Place): void {
    this.text += part;
    const found = lastBreak(this.text, Math.min(finalLength(this.text), this.text.length - 1));
    if (found === 0 && this.text.length <= MAX_OPEN) return;
    const cut = found === 0 ? this.text.length : found;
    const spans = [...this.#carry, ...parseInline(this.text.slice(0, cut), place.codeMark)];
    this.text = this.text.slice(cut);
    const [done, rest] = splitLast(spans, place.width);
    if (done.length > 0) place.emit(done);
    this.#carry = rest;
  }

  end(place: Place): void {
    if (this.text !== "" || this.#carry.length > 0) this.#emit(this.text, place);
    this.text = "";
  }

  #emit(text: string, place: Place): void {
    place.emit([...this.#carry, ...parseInline(text, place.codeMark)]);
    this.#carry = [];
  }
}

/** The last place up to `end` where no mark or URL is cut: after a space, or after a character of a script without spaces. */
function lastBreak(text: string, end: number): number {
  for (let at = end; at > 0; at--) {
    const unit = text.charCodeAt(at - 1);
    if (unit === 0x20 || (unit >= 0x2e80 && unit < 0xd800)) return at;
  }
  return 0;
}

/** All screen lines except the last, and the last one. */
function splitLast(spans: readonly Span[], width: number): [Span[], Span[]] {
  const text = plainText(spans);
  const from = text.lastIndexOf("\n") + 1;
  const start = from + (breakLine(text.slice(from), width).at(-1)?.start ?? 0);
  const done: Span[] = [];
  const rest: Span[] = [];
  let at = 0;
  for (const each of spans) {
    const cut = Math.min(each.text.length, Math.max(0, start - at));
    if (cut > 0) done.push({ ...each, text: each.text.slice(0, cut) });
    if (cut < each.text.length) rest.push({ ...each, text: each.text.slice(cut) });
    at += each.text.length;
  }
  const last = done.at(-1);
  // The break itself belongs to neither.
  if (last?.text.endsWith("\n")) done[done.length - 1] = { ...last, text: last.text.slice(0, -1) };
  return [done, rest];
}
