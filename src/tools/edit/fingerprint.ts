/**
 * What is left of a text when everything that models misquote is taken away.
 *
 * 1. Two texts have the same fingerprint when they differ only in: space at either end of a line, space that does not
 *    separate two words, blank lines, `,` and `;` at the end of a line, kind of quotes, kind of dashes, Unicode
 *    compatibility forms, invisible characters, and backslashes.
 * 2. Each character of a fingerprint knows the stretch of the source it stands for; the stretches are in order.
 */
export interface Fingerprint {
  readonly text: string;
  /** Where in the source each character starts and ends. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const LOOKALIKES = new Map<string, string>();
for (const [plain, others] of [
  ["'", "´‘’‚‛“”„‟‹›«»′″「」『』〝〞〟"],
  ["-", "‐‑‒–—―−﹘﹣"],
] as const) {
  for (const other of others) LOOKALIKES.set(other, plain);
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;
const INVISIBLE = /[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]/;
const SPACE = /\s/;
const MARK = /\p{M}/u;
const PLAIN_WORD = /[A-Za-z0-9_$]/;

export function fingerprint(source: string): Fingerprint {
  return new Reader(source).read();
}

class Reader {
  readonly #source: string;
  readonly #out: string[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #decomposed = new Map<string, string>();
  #spaceStart = -1;
  #spaceEnd = -1;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Fingerprint {
    const source = this.#source;
    for (let at = 0; at < source.length; ) {
      const code = source.charCodeAt(at);
      if (code === BACKSLASH) at = this.#escape(at);
      else if (code < 0x80) at = this.#ascii(code, at, at + 1);
      else at = this.#cluster(at);
    }
    this.#dropLineEndMarks();
    if (this.#out.at(-1) === "\n") this.#drop();
    return { text: this.#out.join(""), starts: this.#starts, ends: this.#ends };
  }

  /** However often a quotation was escaped, it comes to the same: the backslashes go, `\n` and `\t` are space. */
  #escape(start: number): number {
    let at = start;
    while (this.#source[at] === "\\") at++;
    const char = this.#source[at];
    if (char === undefined || char === "\n") return at;
    if (char === "n" || char === "r") return this.#ascii(NEWLINE, start, at + 1);
    if (char === "t") return this.#ascii(TAB, start, at + 1);
    return char < "\x80" ? this.#ascii(char.charCodeAt(0), start, at + 1) : this.#cluster(at, start);
  }

  #ascii(code: number, start: number, end: number): number {
    if (code === NEWLINE || code === 0x0d) this.#newline(start, end);
    else if (code === 0x20 || (code >= TAB && code <= 0x0c)) this.#space(start, end);
    else this.#emit(code === 0x22 || code === 0x60 ? "'" : String.fromCharCode(code), start, end);
    return end;
  }

  /** A character with its combining marks, taken apart so that composed and decomposed spellings agree. */
  #cluster(at: number, start = at): number {
    const source = this.#source;
    let end = at + charLength(source, at);
    while (end < source.length && source.charCodeAt(end) > 0x2ff && MARK.test(charAt(source, end))) {
      end += charLength(source, end);
    }
    const cluster = source.slice(at, end);
    for (const char of this.#decompose(cluster)) {
      if (char < "\x80") this.#ascii(char.charCodeAt(0), start, end);
      else if (SPACE.test(char)) this.#space(start, end);
      else if (!INVISIBLE.test(char)) this.#emit(LOOKALIKES.get(char) ?? char, start, end);
    }
    return end;
  }

  #decompose(cluster: string): string {
    let known = this.#decomposed.get(cluster);
    if (known === undefined) {
      known = LOOKALIKES.get(cluster) ?? cluster.normalize("NFKD");
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
    const last = this.#out.at(-1);
    if (last !== undefined && last !== "\n") this.#push("\n", start, end);
  }

  #emit(char: string, start: number, end: number): void {
    if (this.#spaceStart >= 0) {
      if (isWord(this.#out.at(-1)) && isWord(char)) this.#push(" ", this.#spaceStart, this.#spaceEnd);
      this.#spaceStart = -1;
    }
    this.#push(char, start, end);
  }

  #push(char: string, start: number, end: number): void {
    for (let i = 0; i < char.length; i++) {
      this.#out.push(char[i] as string);
      this.#starts.push(start);
      this.#ends.push(end);
    }
  }

  #drop(): void {
    this.#out.pop();
    this.#starts.pop();
    this.#ends.pop();
  }

  /** A line that is nothing but such marks keeps one, so that it does not become a blank line. */
  #dropLineEndMarks(): void {
    const out = this.#out;
    while (out.at(-1) === "," || out.at(-1) === ";") {
      const before = out.at(-2);
      if (before === undefined || before === "\n") return;
      this.#drop();
    }
  }
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && (char >= "\x80" || PLAIN_WORD.test(char));
}

function charAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) as number);
}

function charLength(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
}

/**
 * Where `part` occurs in `whole`, as indices into its text: every place, also overlapping ones. A place that would cut a
 * character of the source, or a word, in two does not count as a match but as a `halfway` one.
 */
export function occurrences(whole: Fingerprint, part: Fingerprint): { places: number[]; halfway: number[] } {
  const places: number[] = [];
  const halfway: number[] = [];
  if (part.text === "") return { places, halfway };
  const length = part.text.length;
  for (let at = whole.text.indexOf(part.text); at >= 0; at = whole.text.indexOf(part.text, at + 1)) {
    (isCut(whole, at) || isCut(whole, at + length) ? halfway : places).push(at);
  }
  return { places, halfway };
}

function isCut(print: Fingerprint, at: number): boolean {
  if (at === 0 || at === print.text.length) return false;
  if (print.starts[at] === print.starts[at - 1]) return true;
  return isWord(print.text[at - 1]) && isWord(print.text[at]) && !isIdeograph(print.text[at]);
}

/** Scripts without spaces between words: any place is a boundary. */
function isIdeograph(char: string | undefined): boolean {
  return char !== undefined && /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(char);
}
