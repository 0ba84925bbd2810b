/**
 * Code coloured by highlight.js, one line at a time.
 *
 * The library always starts at the beginning of a text. A line is therefore highlighted together with the lines before it that opened a
 * comment, a string or another construct. That context is bounded, so the cost of a line does not depend on its position.
 */

import { createLibrary, type Mode } from "./highlight-library.mjs";
import { languageNamed } from "./languages.js";

/** The kinds of pieces of code. Each client has a look for them. */
export type CodeRole =
  | ("keyword" | "type" | "function" | "heading" | "string" | "number" | "comment")
  | ("added" | "removed" | "strong" | "emphasis" | "link" | "code");

export interface CodeSpan {
  readonly text: string;
  /** At most one. */
  readonly roles: readonly CodeRole[];
}

/** The state of highlighting between two lines of code. It is immutable, so a preview of a line can be dropped. */
export interface CodeHighlighter {
  line(text: string): { readonly spans: readonly CodeSpan[]; readonly next: CodeHighlighter };
}

const MAX_CONTEXT = 2000;
/** A longer line is data, not code to read. */
const MAX_LINE = 1000;

/** Collects spans instead of the library's HTML. */
class SpanEmitter {
  readonly spans: CodeSpan[] = [];
  readonly #scopes: string[] = [];

  addText(text: string): void {
    if (text === "") return;
    const role = this.#role();
    this.spans.push(role === undefined ? span(text) : span(text, role));
  }

  startScope(scope: string): void {
    this.#scopes.push(scope);
  }

  endScope(): void {
    this.#scopes.pop();
  }

  // Some language modes still call the old names.
  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(emitter: SpanEmitter): void {
    this.spans.push(...emitter.spans);
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }

  #role(): CodeRole | undefined {
    for (let at = this.#scopes.length - 1; at >= 0; at--) {
      const role = roleOf(this.#scopes[at] as string);
      if (role !== undefined) return role;
    }
    return undefined;
  }
}

const ROLES: Readonly<Record<string, CodeRole>> = {
  keyword: "keyword",
  literal: "keyword",
  built_in: "type",
  type: "type",
  class: "type",
  title: "function",
  function: "function",
  section: "heading",
  string: "string",
  regexp: "string",
  char: "string",
  symbol: "string",
  number: "number",
  comment: "comment",
  doctag: "comment",
  quote: "comment",
  meta: "comment",
  tag: "keyword",
  name: "keyword",
  attr: "type",
  attribute: "type",
  variable: "type",
  property: "type",
  "selector-tag": "keyword",
  "selector-class": "function",
  "selector-id": "function",
  "selector-pseudo": "keyword",
  addition: "added",
  deletion: "removed",
  strong: "strong",
  emphasis: "emphasis",
  link: "link",
  code: "code",
  bullet: "keyword",
};

function roleOf(scope: string): CodeRole | undefined {
  if (scope.startsWith("title.class")) return "type";
  return ROLES[scope] ?? ROLES[scope.split(".", 1)[0] as string];
}

function span(text: string, ...roles: readonly CodeRole[]): CodeSpan {
  return { text, roles };
}

const library = createLibrary(SpanEmitter);

const NONE: CodeHighlighter = { line: (text) => ({ spans: [span(text)], next: NONE }) };

export function highlighter(language: string): CodeHighlighter {
  const name = languageNamed(language);
  return name === undefined ? NONE : after(name, { context: "", open: [] });
}

interface Before {
  /** The lines that opened the constructs that are still open. */
  readonly context: string;
  /** The constructs that are open after them, the innermost first. */
  readonly open: readonly object[];
}

const NOTHING: Before = { context: "", open: [] };

function after(language: string, before: Before): CodeHighlighter {
  return {
    line(text) {
      if (text.length > MAX_LINE) return { spans: [span(text)], next: after(language, NOTHING) };
      const source = `${before.context}${text}\n`;
      const result = library.highlight(source, { language, ignoreIllegals: true });
      const spans = splitLines(result._emitter.spans).at(-2) ?? [span(text)];
      return { spans, next: after(language, stateAfter(before, source, openModes(result._top))) };
    },
  };
}

/** A line that opens and closes nothing is not part of the context. */
function stateAfter(before: Before, context: string, open: readonly object[]): Before {
  if (open.length === 0 || context.length > MAX_CONTEXT) return NOTHING;
  const isSame = open.length === before.open.length && open.every((mode, index) => mode === before.open[index]);
  return isSame ? before : { context, open };
}

/** The library derives an object for every construct that it enters from the one that defines it. */
function openModes(top: Mode | undefined): object[] {
  const open: object[] = [];
  for (let mode = top; mode?.parent !== undefined; mode = mode.parent) open.push(Object.getPrototypeOf(mode));
  return open;
}

function splitLines(spans: readonly CodeSpan[]): CodeSpan[][] {
  const lines: CodeSpan[][] = [[]];
  for (const { text, roles } of spans) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ text: part, roles });
    }
  }
  return lines;
}
