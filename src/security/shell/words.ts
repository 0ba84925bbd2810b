/** Words: quotes, expansions and what stays literal. Strict: what bash would read in a way not described here is unparsable. */
import { decodeAnsiQuote } from "./ansi-quote.js";
import type { Source } from "./source.js";
import type { Word, WordPart } from "./syntax.js";

const BREAKS = new Set(["", " ", "\t", "\n", ";", "&", "|", "(", ")", "<", ">"]);
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
/** Characters that mean nothing anywhere in a word. */
const PLAIN_RUN = /[A-Za-z0-9_./,+%@^-]+/y;
const SPECIAL_PARAMETER = /[0-9?$#@*!-]/;

export interface WordOptions {
  /** `~` after the first `=` and every `:` means a folder, too. */
  readonly assignment?: boolean;
}

/** The word here, or undefined where none starts. */
export function readWord(source: Source, options: WordOptions = {}): Word | undefined {
  source.peek();
  const start = source.position;
  const parts = new Parts();
  let tildeMayStart = true;
  for (;;) {
    const character = source.peek();
    if ((character === "<" || character === ">") && source.ahead(1) === "(") {
      parts.add(substitution(source, character === "<" ? "<(" : ">(", "quoted"));
      continue;
    }
    if (BREAKS.has(character)) break;
    const wasTildePlace = tildeMayStart;
    tildeMayStart = options.assignment === true && (character === "=" || character === ":");
    if (character === "~" && wasTildePlace) {
      parts.add({ type: "tilde" });
      source.position += 1;
    } else {
      readUnquoted(source, character, parts);
    }
  }
  if (source.position === start) return undefined;
  return { parts: parts.finish(), text: source.text.slice(start, source.position) };
}

/** Collects parts and joins adjacent literals. */
export class Parts {
  readonly #parts: WordPart[] = [];
  #value = "";
  #quoted: boolean | undefined;

  literal(value: string, kind: "plain" | "quoted"): void {
    const quoted = kind === "quoted";
    if (this.#quoted !== undefined && this.#quoted !== quoted) this.#flush();
    this.#quoted = quoted;
    this.#value += value;
  }

  add(part: WordPart): void {
    this.#flush();
    this.#parts.push(part);
  }

  finish(): readonly WordPart[] {
    this.#flush();
    return this.#parts;
  }

  #flush(): void {
    if (this.#quoted !== undefined) this.#parts.push({ type: "literal", value: this.#value, quoted: this.#quoted });
    this.#value = "";
    this.#quoted = undefined;
  }
}

function readUnquoted(source: Source, character: string, parts: Parts): void {
  switch (character) {
    case "'":
      parts.literal(singleQuoted(source), "quoted");
      return;
    case '"':
      doubleQuoted(source, parts);
      return;
    case "\\":
      escaped(source, parts);
      return;
    case "`":
      parts.add(backquoted(source, "plain"));
      return;
    case "$":
      dollar(source, parts, "plain");
      return;
    case "*":
    case "?":
    case "[":
      parts.add({ type: "glob", value: character });
      break;
    case "{":
    case "}":
      parts.add({ type: "brace", value: character });
      break;
    default:
      PLAIN_RUN.lastIndex = source.position;
      parts.literal(PLAIN_RUN.exec(source.text)?.[0] ?? character, "plain");
      source.position = Math.max(PLAIN_RUN.lastIndex, source.position + 1);
      return;
  }
  source.position += 1;
}

function escaped(source: Source, parts: Parts): void {
  const next = source.ahead(1);
  if (next === "") source.fail("it ends in a backslash");
  parts.literal(next, "quoted");
  source.position += 2;
}

function singleQuoted(source: Source): string {
  const end = source.text.indexOf("'", source.position + 1);
  if (end < 0) source.fail("a single quote is not closed");
  const value = source.text.slice(source.position + 1, end);
  if (value.includes("\n")) source.crossLine();
  source.position = end + 1;
  return value;
}

function doubleQuoted(source: Source, parts: Parts): void {
  const start = source.position;
  source.position += 1;
  parts.literal("", "quoted");
  for (;;) {
    const character = source.peek();
    if (character === "") source.fail("a double quote is not closed", start);
    if (character === '"') break;
    readExpandedText(source, character, parts, '"');
  }
  source.position += 1;
}

/** One character of text in which `$`, backquotes and backslashes count: double quotes, and here-documents when `quote` is empty. */
export function readExpandedText(source: Source, character: string, parts: Parts, quote: '"' | ""): void {
  if (character === "$") {
    dollar(source, parts, "quoted");
  } else if (character === "`") {
    parts.add(backquoted(source, "quoted"));
  } else if (character === "\\") {
    const next = source.ahead(1);
    const escapes = next === "$" || next === "`" || next === "\\" || (next !== "" && next === quote);
    parts.literal(escapes ? next : "\\", "quoted");
    source.position += escapes ? 2 : 1;
  } else {
    if (character === "\n") source.crossLine();
    parts.literal(character, "quoted");
    source.position += 1;
  }
}

function dollar(source: Source, parts: Parts, kind: "plain" | "quoted"): void {
  const part = dollarExpansion(source, kind);
  if (part.type === "literal") parts.literal(part.value, part.quoted ? "quoted" : "plain");
  else parts.add(part);
}

function dollarExpansion(source: Source, kind: "plain" | "quoted"): WordPart {
  const next = source.ahead(1);
  const quoted = kind === "quoted";
  if (next === "\\" && source.ahead(2) === "\n") source.fail("a line is continued right after a dollar sign");
  if (next === "'" && !quoted) return { type: "literal", value: ansiQuoted(source), quoted: true };
  if (next === '"' && !quoted) source.fail('it uses $"…", whose text depends on the locale');
  if (next === "{") return source.enter(() => bracedParameter(source, kind));
  if (next === "[") source.fail("it uses $[…], the old form of arithmetic");
  if (next === "(") return parenthesized(source, kind);
  const name = SPECIAL_PARAMETER.test(next) ? next : nameAt(source, source.position + 1);
  source.position += 1 + name.length;
  if (name === "") return { type: "literal", value: "$", quoted };
  return { type: "parameter", name, operation: "", quoted, parts: [] };
}

/** The name here. A joined line inside it would make it another name: those are unparsable. */
function nameAt(source: Source, position: number): string {
  NAME.lastIndex = position;
  const name = NAME.exec(source.text)?.[0] ?? "";
  if (name !== "" && source.text.startsWith("\\\n", position + name.length)) {
    source.fail("a line is continued right after the name of a variable", position);
  }
  return name;
}

function ansiQuoted(source: Source): string {
  const start = source.position + 2;
  let end = start;
  while (end < source.text.length && source.text[end] !== "'") end += source.text[end] === "\\" ? 2 : 1;
  if (end >= source.text.length) source.fail("a quotation that began with $' is not closed");
  const raw = source.text.slice(start, end);
  const value = decodeAnsiQuote(raw);
  if (value === undefined)
    source.fail("a quotation that began with $' holds an escape that is read differently by shells");
  if (raw.includes("\n")) source.crossLine();
  source.position = end + 1;
  return value;
}

/** `$(…)` or `$((…))`. */
function parenthesized(source: Source, kind: "plain" | "quoted"): WordPart {
  if (source.ahead(2) === "(") {
    source.take("$((");
    return source.enter(() => readArithmetic(source));
  }
  return substitution(source, "$(", kind);
}

function substitution(source: Source, opening: "$(" | "<(" | ">(", kind: "plain" | "quoted"): WordPart {
  const start = source.position;
  const asked = source.pending.length;
  source.take(opening);
  const script = source.enter(() => source.scripts.upToParenthesis(source));
  if (asked > 0 && source.text.slice(start, source.position).includes("\n")) {
    source.fail("a substitution runs into the lines of a here-document", start);
  }
  return { type: "substitution", script, quoted: kind === "quoted" };
}

function backquoted(source: Source, kind: "plain" | "quoted"): WordPart {
  const end = source.text.indexOf("`", source.position + 1);
  if (end < 0) source.fail("a backquote is not closed");
  const inner = source.text.slice(source.position + 1, end);
  if (inner.includes("\\")) source.fail("backquotes hold a backslash, which is read twice there");
  if (inner.includes("\n")) source.crossLine();
  const script = source.enter(() => source.scripts.whole(inner, source.depth));
  source.position = end + 1;
  return { type: "substitution", script, quoted: kind === "quoted" };
}

/** After `((`, up to and with `))`. Names and numbers with their operators only; anything else may be commands in disguise. */
export function readArithmetic(source: Source): WordPart {
  const start = source.position;
  const parts = new Parts();
  for (let open = 0; ; ) {
    const character = source.peek();
    if (character === "$") {
      dollar(source, parts, "quoted");
      continue;
    }
    if (character === ")" && open === 0) break;
    if (character === "" || !/[\w \t+\-*/%<>=!&|^~?:,#()]/.test(character)) {
      source.fail("an arithmetic expression holds more than names, numbers and operators");
    }
    if (character === "(") open += 1;
    if (character === ")") open -= 1;
    source.position += 1;
  }
  const text = source.text.slice(start, source.position);
  if (!source.startsWith("))")) source.fail("an arithmetic expression is not closed");
  source.position += 2;
  return { type: "arithmetic", text, parts: parts.finish() };
}

/** `${…}`. What follows the name is kept as text; substitutions in it are found, quotes in it are unparsable. */
function bracedParameter(source: Source, kind: "plain" | "quoted"): WordPart {
  const start = source.position;
  source.take("${");
  const prefix = /^[!#](?=[A-Za-z_0-9@*?$!-])/.exec(source.text.slice(source.position, source.position + 2))?.[0] ?? "";
  source.position += prefix.length;
  const digits = /^[0-9]+|^[?$#@*!-]/.exec(source.text.slice(source.position, source.position + 12))?.[0];
  const name = nameAt(source, source.position) || digits || "";
  if (name === "") source.fail("an expansion in braces does not start with a name", start);
  source.position += name.length;
  const from = source.position;
  const parts = new Parts();
  for (;;) {
    const character = source.peek();
    if (character === "}") break;
    if (character === "$" && source.ahead(1) !== "}") dollar(source, parts, "quoted");
    else if (character === "" || /['"`\\{()<>\n]/.test(character)) {
      source.fail(
        "an expansion in braces holds quotes, brackets or lines, whose reading depends on where it stands",
        start,
      );
    } else source.position += 1;
  }
  const operation = prefix + source.text.slice(from, source.position);
  source.position += 1;
  return { type: "parameter", name, operation, quoted: kind === "quoted", parts: parts.finish() };
}
