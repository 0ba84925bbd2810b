/**
 * The text being parsed and the place in it.
 *
 * 1. A backslash before a newline joins two lines wherever bash does so; where that would glue an operator or an expansion
 *    together, the text counts as unparsable instead.
 * 2. A newline that ends a line with `<<` on it starts the bodies of those here-documents and is met in `endLine` alone; met
 *    anywhere else it makes the text unparsable.
 */
import type { Command, Script, Word } from "./syntax.js";

export class Unparsable extends Error {
  readonly at: number;

  constructor(reason: string, at: number) {
    super(reason);
    this.at = at;
  }
}

export interface PendingHereDocument {
  readonly delimiter: string;
  readonly expanded: boolean;
  readonly stripTabs: boolean;
  /** Called with the body when its lines have been read. */
  readonly finish: (body: Word) => void;
}

/** The grammar of commands, handed to what commands are made of because words and loops hold commands in turn. */
export interface ScriptReader {
  /** Commands up to one of the words (not consumed), a `)`, `;;` or the end. May be empty. */
  list(source: Source, until: readonly string[]): Script;
  command(source: Source): Command;
  /** Commands up to the next `)` of their own, which is consumed. */
  upToParenthesis(source: Source): Script;
  /** A separate text, `depth` levels inside another. */
  whole(text: string, depth: number): Script;
}

/** Deep enough for any person, shallow enough for the stack. */
const MAX_DEPTH = 40;

export class Source {
  readonly text: string;
  position = 0;
  readonly pending: PendingHereDocument[] = [];
  readonly scripts: ScriptReader;
  #depth: number;

  constructor(text: string, { scripts, depth }: { readonly scripts: ScriptReader; readonly depth: number }) {
    this.text = text;
    this.scripts = scripts;
    this.#depth = depth;
  }

  get depth(): number {
    return this.#depth;
  }

  /** The character here, after joining lines; `""` at the end. */
  peek(): string {
    while (this.text.startsWith("\\\n", this.position)) this.position += 2;
    return this.text.charAt(this.position);
  }

  /** The character `offset` further on. */
  ahead(offset: number): string {
    return this.text.charAt(this.position + offset);
  }

  startsWith(token: string): boolean {
    return this.text.startsWith(token, this.position);
  }

  /** Steps over characters that mean something only together with the ones right after them. */
  take(token: string): void {
    this.position += token.length;
    if (this.startsWith("\\\n")) this.fail(`a line is continued inside or right after "${token}"`);
  }

  /** A newline inside quotes or the like. */
  crossLine(): void {
    if (this.pending.length > 0) this.fail("a quotation or substitution runs into the lines of a here-document");
  }

  enter<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.fail("it is nested too deeply");
    const result = read();
    this.#depth -= 1;
    return result;
  }

  /** Another text in the same grammar: the body of a here-document. */
  within(text: string): Source {
    return new Source(text, { scripts: this.scripts, depth: this.#depth });
  }

  fail(reason: string, at = this.position): never {
    throw new Unparsable(reason, at);
  }
}
