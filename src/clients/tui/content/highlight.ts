/**
 * Code coloured by highlight.js, one line at a time.
 *
 * The library starts at the beginning of a text. A line is therefore highlighted together with the lines before it, back to where no
 * comment, string or other construct was open. That context is bounded, so a line costs the same wherever it stands.
 */
import type { Role } from "../theme.js";
import { createLibrary } from "./highlight-library.mjs";
import { languageNamed } from "./languages.js";
import { type Span, span } from "./spans.js";
import type { Highlighter } from "./tools.js";
import { splitLines } from "./wrap.js";

const MAX_CONTEXT = 2000;
/** A longer line is data, not code to read. */
const MAX_LINE = 1000;

/** Collects spans where the library would write HTML. */
class SpanEmitter {
  readonly spans: Span[] = [];
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

  // The old names are still called for language modes.
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

  #role(): Role | undefined {
    for (let at = this.#scopes.length - 1; at >= 0; at--) {
      const role = roleOf(this.#scopes[at] as string);
      if (role !== undefined) return role;
    }
    return undefined;
  }
}

const ROLES: Readonly<Record<string, Role>> = {
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

function roleOf(scope: string): Role | undefined {
  if (scope.startsWith("title.class")) return "type";
  return ROLES[scope] ?? ROLES[scope.split(".", 1)[0] as string];
}

const library = createLibrary(SpanEmitter);

const NONE: Highlighter = { line: (text) => ({ spans: [span(text)], next: NONE }) };

export function highlighter(language: string): Highlighter {
  const name = languageNamed(language);
  return name === undefined ? NONE : after(name, "");
}

/** `context` is what stands before the line and is still open. */
function after(language: string, context: string): Highlighter {
  return {
    line(text) {
      if (text.length > MAX_LINE) return { spans: [span(text)], next: after(language, "") };
      const source = `${context}${text}\n`;
      const result = library.highlight(source, { language, ignoreIllegals: true });
      const lines = splitLines(result._emitter.spans);
      const isOpen = result._top?.parent !== undefined;
      const next = isOpen && source.length < MAX_CONTEXT ? source : "";
      return { spans: lines.at(-2) ?? [span(text)], next: after(language, next) };
    },
  };
}
