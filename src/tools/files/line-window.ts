/**
 * Some consecutive lines of a text that comes in pieces of any size.
 *
 * 1. Memory is bounded by what is shown, however long the text or one of its lines.
 * 2. The window is full when it has its lines or when they would be too much to show; at least one line is always shown.
 */

/** One line is cut here. */
export const MAX_LINE_CHARACTERS = 2000;
const MAX_SHOWN_CHARACTERS = 50_000;
/** Enough for the longest line we show in any encoding. */
const MAX_LINE_BYTES = MAX_LINE_CHARACTERS * 4;
const NEWLINE = 10;

export class LineWindow {
  readonly first: number;
  readonly lines: string[] = [];
  readonly #limit: number;
  #shownCharacters = 0;
  #lineNumber = 1;
  #cutLines = 0;
  #isFull = false;
  /** The beginning of the incomplete line, and its length so far. */
  #pending: Buffer[] = [];
  #pendingKept = 0;
  #pendingLength = 0;

  constructor({ offset, limit }: { offset: number; limit: number }) {
    this.first = offset;
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  get cutLines(): number {
    return this.#cutLines;
  }

  /** All lines so far, shown or not. */
  get linesSeen(): number {
    return this.#lineNumber - 1;
  }

  /** A whole text; then all its lines are counted. */
  addText(text: string): void {
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#add(text.slice(from, Math.min(end, from + MAX_LINE_CHARACTERS + 1)), end - from);
      from = end + 1;
    }
    if (from < text.length) this.#add(text.slice(from, from + MAX_LINE_CHARACTERS + 1), text.length - from);
  }

  /** Ignores further bytes when the window is full. */
  addBytes(piece: Buffer): void {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1 && !this.#isFull; end = piece.indexOf(NEWLINE, from)) {
      if (this.#lineNumber >= this.first) {
        this.#keep(piece.subarray(from, end));
        this.#finishLine();
      } else {
        this.#lineNumber++;
        this.#forget();
      }
      from = end + 1;
    }
    if (!this.#isFull && this.#lineNumber >= this.first) this.#keep(piece.subarray(from));
    else if (from < piece.length) this.#pendingLength = 1;
  }

  /** The text is over: a last line without a line end counts too. */
  end(): void {
    if (this.#pendingLength === 0) return;
    if (this.#lineNumber >= this.first) this.#finishLine();
    else this.#lineNumber++;
  }

  #keep(bytes: Buffer): void {
    this.#pendingLength += bytes.length;
    const room = MAX_LINE_BYTES - this.#pendingKept;
    if (room <= 0 || bytes.length === 0) return;
    // A copy, because the caller reuses the memory of the piece.
    const kept = Buffer.from(bytes.subarray(0, room));
    this.#pending.push(kept);
    this.#pendingKept += kept.length;
  }

  #finishLine(): void {
    let bytes = Buffer.concat(this.#pending);
    if (this.#lineNumber === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) bytes = bytes.subarray(3);
    const isWhole = this.#pendingLength === this.#pendingKept;
    let line = bytes.toString("utf8");
    if (line.includes("\ufffd") && isWhole && !Buffer.from(line).equals(bytes)) line = bytes.toString("latin1");
    if (isWhole && line.endsWith("\r")) line = line.slice(0, -1);
    this.#forget();
    this.#add(line, isWhole ? line.length : Number.POSITIVE_INFINITY);
  }

  #forget(): void {
    this.#pending = [];
    this.#pendingKept = 0;
    this.#pendingLength = 0;
  }

  #add(line: string, length: number): void {
    const isInside = this.#lineNumber >= this.first && !this.#isFull;
    this.#lineNumber++;
    if (!isInside) return;
    const isCut = length > MAX_LINE_CHARACTERS;
    const shown = isCut ? `${line.slice(0, wholeCharacters(line, MAX_LINE_CHARACTERS))}…` : line;
    this.#shownCharacters += shown.length + 1;
    if (this.#shownCharacters > MAX_SHOWN_CHARACTERS && this.lines.length > 0) {
      this.#isFull = true;
      return;
    }
    if (isCut) this.#cutLines++;
    this.lines.push(shown);
    this.#isFull = this.lines.length >= this.#limit;
  }
}

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** An end that does not split a character. */
function wholeCharacters(text: string, end: number): number {
  const code = text.charCodeAt(end);
  return code >= 0xdc00 && code <= 0xdfff ? end - 1 : end;
}
