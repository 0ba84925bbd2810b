/**
 * Writes Markdown in one pass.
 *
 * 1. White space is collapsed; a space is written only before the next word, a line break only before the next line.
 * 2. An opening mark (`**`, `[`, `## `) is written only if text follows.
 * 3. Lines inside lists and quotes begin with the marks of all of them, at most MAX_NESTING deep: the output stays linear in the input.
 */

export interface WriterOptions {
  /** Only text, without Markdown marks. */
  readonly plain: boolean;
  readonly maxCharacters: number;
}

interface Prefix {
  /** For the first line; undefined once it was written. */
  first: string | undefined;
  readonly rest: string;
}

const MAX_NESTING = 8;

export class MarkdownWriter {
  readonly plain: boolean;
  readonly #maxCharacters: number;
  readonly #prefixes: Prefix[] = [];
  #pieces: string[] = [];
  #length = 0;
  /** Opening marks that wait for text. */
  #waiting: string[] = [];
  #space = false;
  /** 1: a new line; 2: a blank line before it. */
  #breaks: 0 | 1 | 2 = 2;
  #inline = 0;

  constructor({ plain, maxCharacters }: WriterOptions) {
    this.plain = plain;
    this.#maxCharacters = maxCharacters;
  }

  get isFull(): boolean {
    return this.#length >= this.#maxCharacters;
  }

  get isInline(): boolean {
    return this.#inline > 0;
  }

  toString(): string {
    return this.#pieces.join("");
  }

  text(text: string): void {
    const collapsed = text.replace(/[\s\u00ad]+/g, (run) => (/^\u00ad+$/.test(run) ? "" : " "));
    const words = collapsed.trim();
    if (collapsed.startsWith(" ")) this.space();
    if (words === "") return;
    this.#emit(words);
    if (collapsed.endsWith(" ")) this.space();
  }

  space(): void {
    this.#space = true;
  }

  /** The next text starts after a new line (1) or a blank line (2). */
  break(kind: 1 | 2): void {
    if (this.#inline > 0) {
      this.#space = true;
      return;
    }
    this.#space = false;
    // The first block of a list item is on the line of its marker.
    if (this.#prefixes.at(-1)?.first === undefined && kind > this.#breaks) this.#breaks = kind;
  }

  /** `<br>`: the second one in a row makes a blank line. */
  lineBreak(): void {
    this.break(this.#breaks === 0 ? 1 : 2);
  }

  /** Everything written by `write` is on one line. */
  inline(write: () => void): void {
    this.#inline++;
    write();
    this.#inline--;
  }

  /** Marks around what `write` writes, if that is any text. */
  marked(open: string, close: string, write: () => void): void {
    if (this.plain) {
      write();
      return;
    }
    const depth = this.#waiting.push(open);
    const written = this.#length;
    write();
    if (this.#length === written) this.#waiting.length = depth - 1;
    else this.#append(close);
  }

  /** Lines of a list item, quote or definition: `first` before the first, `rest` before the others. */
  nested(first: string, rest: string, write: () => void): void {
    if (this.#inline > 0) {
      write();
      return;
    }
    this.break(1);
    if (this.#prefixes.length < MAX_NESTING) {
      this.#prefixes.push({ first, rest });
      write();
      this.#prefixes.pop();
    } else this.marked(first, "", write);
    this.#space = false;
    this.#breaks = 1;
  }

  /** A word, with nothing collapsed. */
  word(text: string): void {
    if (text !== "") this.#emit(text);
  }

  lines(lines: Iterable<string>): void {
    this.break(2);
    for (const line of lines) {
      if (this.isFull) return;
      this.#emit(line);
      this.#breaks = 1;
    }
    this.break(2);
  }

  #emit(text: string): void {
    if (this.isFull) return;
    if (this.#breaks > 0) this.#startLine();
    else if (this.#space) this.#append(" ");
    this.#space = false;
    for (const mark of this.#waiting.splice(0)) this.#append(mark);
    this.#append(text);
  }

  #startLine(): void {
    if (this.#length > 0) {
      this.#append("\n");
      if (this.#breaks === 2) this.#append(`${this.#restPrefix().trimEnd()}\n`);
    }
    this.#breaks = 0;
    for (const prefix of this.#prefixes) {
      this.#append(prefix.first ?? prefix.rest);
      prefix.first = undefined;
    }
  }

  #restPrefix(): string {
    return this.#prefixes.map((prefix) => (prefix.first === undefined ? prefix.rest : "")).join("");
  }

  #append(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
  }
}
