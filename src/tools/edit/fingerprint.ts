/**
 * A text without everything that models misquote.
 *
 * 1. Two texts have the same fingerprint if they differ only in: space at either end of a line, space that does not
 *    separate two words, blank lines, `,` and `;` at the end of a line, kind of quotes, kind of dashes, Unicode
 *    compatibility forms, invisible characters, and backslashes.
 * 2. Each character of a fingerprint knows its range in the source; the ranges are in order.
 */
export interface Fingerprint {
  readonly text: string;
  /** The place in the source where each character starts and ends. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANK = 0x20;
const QUOTE = 0x27;
const COMMA = 0x2c;
const DASH = 0x2d;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;

const LOOKALIKES = new Map<string, number>();
for (const [plain, others] of [
  [QUOTE, "´‘’‚‛“”„‟‹›«»′″「」『』〝〞〟"],
  [DASH, "‐‑‒–—―−﹘﹣"],
] as const) {
  for (const other of others) LOOKALIKES.set(other, plain);
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;
const SPACE = /\s/;
const MARK = /\p{M}/u;

export function fingerprint(source: string): Fingerprint {
  return new Reader(source).read();
}

class Reader {
  readonly #source: string;
  readonly #decomposed = new Map<string, string>();
  #codes: Uint16Array;
  #starts: Uint32Array;
  #ends: Uint32Array;
  #length = 0;
  #spaceStart = -1;
  #spaceEnd = -1;

  constructor(source: string) {
    this.#source = source;
    this.#codes = new Uint16Array(source.length + 16);
    this.#starts = new Uint32Array(source.length + 16);
    this.#ends = new Uint32Array(source.length + 16);
  }

  read(): Fingerprint {
    const source = this.#source;
    for (let at = 0; at < source.length; ) {
      const code = source.charCodeAt(at);
      if (code === BACKSLASH) at = this.#escape(at);
      else if (code < 0x80) at = this.#ascii(code, at, at + 1);
      else at = this.#cluster(at, at);
    }
    this.#dropLineEndMarks();
    if (this.#last === NEWLINE) this.#length--;
    const codes = this.#codes.subarray(0, this.#length);
    return {
      text: new TextDecoder("utf-16le", { ignoreBOM: true }).decode(codes),
      starts: this.#starts.subarray(0, this.#length),
      ends: this.#ends.subarray(0, this.#length),
    };
  }

  /** Any number of escapes gives the same result: backslashes are dropped, `\n` and `\t` are space. */
  #escape(start: number): number {
    let at = start;
    while (this.#source.charCodeAt(at) === BACKSLASH) at++;
    const char = this.#source[at];
    if (char === undefined || char === "\n") return at;
    if (char === "n" || char === "r") return this.#ascii(NEWLINE, start, at + 1);
    if (char === "t") return this.#ascii(TAB, start, at + 1);
    return char < "\x80" ? this.#ascii(char.charCodeAt(0), start, at + 1) : this.#cluster(at, start);
  }

  #ascii(code: number, start: number, end: number): number {
    if (code === NEWLINE || code === RETURN) this.#newline(start, end);
    else if (code === BLANK || (code >= TAB && code <= 0x0c)) this.#space(start, end);
    else this.#emit(code === 0x22 || code === 0x60 ? QUOTE : code, start, end);
    return end;
  }

  /** A character with its combining marks, decomposed so that composed and decomposed spellings agree. */
  #cluster(at: number, start: number): number {
    const source = this.#source;
    let end = at + charLength(source, at);
    while (end < source.length && source.charCodeAt(end) > 0x2ff && MARK.test(charAt(source, end))) {
      end += charLength(source, end);
    }
    for (const char of this.#decompose(source.slice(at, end))) {
      const plain = LOOKALIKES.get(char);
      if (plain !== undefined) this.#emit(plain, start, end);
      else if (char < "\x80") this.#ascii(char.charCodeAt(0), start, end);
      else if (SPACE.test(char)) this.#space(start, end);
      else if (!INVISIBLE.test(char)) {
        for (let i = 0; i < char.length; i++) this.#emit(char.charCodeAt(i), start, end);
      }
    }
    return end;
  }

  #decompose(cluster: string): string {
    if (LOOKALIKES.has(cluster)) return cluster;
    let known = this.#decomposed.get(cluster);
    if (known === undefined) {
      known = cluster.normalize("NFKD");
      this.#decomposed.set(cluster, known);
    }
    return known;
  }

  #space(start: number, end: number): void {
    if (this.#spaceStart < 0) this.#spaceStart = start;
    this.#spaceEnd = end;
  }

  #newline(start: number, end: number): void {
    this.#spaceStart = -1;
    this.#dropLineEndMarks();
    if (this.#length > 0 && this.#last !== NEWLINE) this.#push(NEWLINE, start, end);
  }

  #emit(code: number, start: number, end: number): void {
    if (this.#spaceStart >= 0) {
      if (this.#length > 0 && isWord(this.#last) && isWord(code)) this.#push(BLANK, this.#spaceStart, this.#spaceEnd);
      this.#spaceStart = -1;
    }
    this.#push(code, start, end);
  }

  #push(code: number, start: number, end: number): void {
    if (this.#length === this.#codes.length) this.#grow();
    this.#codes[this.#length] = code;
    this.#starts[this.#length] = start;
    this.#ends[this.#length] = end;
    this.#length++;
  }

  /** Compatibility forms can be longer than their characters. */
  #grow(): void {
    const size = this.#codes.length * 2;
    const larger = <T extends Uint16Array | Uint32Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.#codes = larger(this.#codes, new Uint16Array(size));
    this.#starts = larger(this.#starts, new Uint32Array(size));
    this.#ends = larger(this.#ends, new Uint32Array(size));
  }

  get #last(): number | undefined {
    return this.#codes[this.#length - 1];
  }

  /** A line that is nothing but such marks keeps one, so that it does not become a blank line. */
  #dropLineEndMarks(): void {
    while (this.#length > 1 && (this.#last === COMMA || this.#last === SEMICOLON)) {
      if (this.#codes[this.#length - 2] === NEWLINE) return;
      this.#length--;
    }
  }
}

/** Letters, digits, `_` and `$`, and everything that is not ASCII. */
function isWord(code: number | undefined): boolean {
  if (code === undefined) return false;
  if (code >= 0x80) return true;
  const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
  return isLetter || (code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x24;
}

function charAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) as number);
}

function charLength(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
}

/**
 * Finds where `part` occurs in `whole`, as indices into its text: every place, including overlapping ones. A place that would split a
 * character of the source, or a word, is not a match but a `halfway` one.
 */
export function occurrences(whole: Fingerprint, part: Fingerprint): { places: number[]; halfway: number[] } {
  const places: number[] = [];
  const halfway: number[] = [];
  const { length } = part.text;
  if (length === 0) return { places, halfway };
  for (let at = whole.text.indexOf(part.text); at >= 0; at = whole.text.indexOf(part.text, at + 1)) {
    (isCut(whole, at) || isCut(whole, at + length) ? halfway : places).push(at);
  }
  return { places, halfway };
}

function isCut({ text, starts }: Fingerprint, at: number): boolean {
  if (at === 0 || at === text.length) return false;
  if (starts[at] === starts[at - 1]) return true;
  return isWord(text.charCodeAt(at - 1)) && isWord(text.charCodeAt(at)) && !UNSPACED.test(text[at] as string);
}

/** Scripts without spaces between words: any place is a boundary. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;
