/**
 * The grammar of commands. Strict: a text that is not wholly understood is unparsable, never read in part.
 *
 * 1. Reserved words count only where a command may start and only unquoted.
 * 2. Every list ends with its construct; a missing command or a doubled separator is an error, as in bash.
 */
import { functionBody, readCompound, readEmptyParentheses } from "./compounds.js";
import { endLine } from "./here-documents.js";
import { readRedirect } from "./redirects.js";
import { type ScriptReader, Source, Unparsable } from "./source.js";
import type { Assignment, Command, ListItem, ParseResult, Redirect, Script, Word } from "./syntax.js";
import { CLOSERS, reservedWordHere, skipBlanks, skipLines } from "./tokens.js";
import { readWord } from "./words.js";

/** A text so long that no person will have read it. */
const MAX_LENGTH = 200_000;

export function parseShell(text: string): ParseResult {
  if (text.length > MAX_LENGTH) return { ok: false, reason: "it is too long", at: MAX_LENGTH };
  try {
    return { ok: true, script: wholeScript(text, 0) };
  } catch (error) {
    if (error instanceof Unparsable) return { ok: false, reason: error.message, at: error.at };
    throw error;
  }
}

function wholeScript(text: string, depth: number): Script {
  const source = new Source(text, { scripts: SCRIPTS, depth });
  const script = readList(source, []);
  if (source.peek() !== "") source.fail(`unexpected "${source.peek()}"`);
  if (source.pending.length > 0) source.fail("a here-document has no body");
  return script;
}

const SCRIPTS: ScriptReader = {
  whole: wholeScript,
  list: readList,
  command: readCommand,
  upToParenthesis(source) {
    const outside = source.pending.length;
    const script = readList(source, []);
    if (source.peek() !== ")") source.fail('a "(" is not closed');
    if (source.pending.length > outside) source.fail("a here-document has no body before the closing parenthesis");
    source.position += 1;
    return script;
  },
};

const CONTROL = ["&&", "||", ";;&", ";;", ";&", "|&", "|", ";", "&"] as const;

/** Commands up to one of the words `until` (not consumed), a `)`, `;;` or the end. May be empty; callers that need one say so. */
function readList(source: Source, until: readonly string[]): Script {
  const items: ListItem[] = [];
  for (;;) {
    skipLines(source);
    if (atListEnd(source, until)) return { items };
    const command = readPipeline(source);
    skipBlanks(source);
    const operator = separator(source);
    items.push({ command, operator });
    if (operator === "") return { items };
    if (operator === "&&" || operator === "||") {
      skipLines(source);
      if (atListEnd(source, until)) source.fail(`there is no command after "${operator}"`);
    }
  }
}

function atListEnd(source: Source, until: readonly string[]): boolean {
  const character = source.peek();
  if (character === "" || character === ")" || source.startsWith(";;") || source.startsWith(";&")) return true;
  const word = reservedWordHere(source);
  if (word === undefined || !CLOSERS.has(word) || word === "in") return false;
  if (!until.includes(word)) source.fail(`unexpected "${word}"`);
  return true;
}

function separator(source: Source): ListItem["operator"] {
  const character = source.peek();
  if (character === "\n") {
    endLine(source);
    return "\n";
  }
  const operator = CONTROL.find((token) => source.startsWith(token));
  if (operator === "&&" || operator === "||" || operator === ";" || operator === "&") {
    source.take(operator);
    return operator;
  }
  if (character === "" || character === ")" || operator === ";;" || operator === ";;&" || operator === ";&") return "";
  return source.fail(`unexpected "${character}"`);
}

function readPipeline(source: Source): Command {
  let prefixes = 0;
  for (let word = reservedWordHere(source); word === "!" || word === "time"; word = reservedWordHere(source)) {
    readWord(source);
    skipBlanks(source);
    if (word === "time" && source.peek() === "-") {
      if (!/^-p[ \t]/.test(source.text.slice(source.position, source.position + 3))) source.fail('"time" has options');
      source.position += 2;
      skipBlanks(source);
    }
    prefixes += 1;
    if (prefixes > 2) source.fail('too many "!" and "time"');
  }
  const commands: Command[] = [];
  for (;;) {
    commands.push(readCommand(source));
    skipBlanks(source);
    if (source.peek() !== "|" || source.ahead(1) === "|") break;
    source.take(source.ahead(1) === "&" ? "|&" : "|");
    skipLines(source);
  }
  const [only] = commands;
  return commands.length === 1 && only !== undefined ? only : { type: "pipeline", commands };
}

function readCommand(source: Source): Command {
  return source.enter(() => {
    const start = source.position;
    const compound = readCompound(source, start);
    if (compound === undefined) return readSimple(source, start);
    const redirects: Redirect[] = [];
    for (;;) {
      skipBlanks(source);
      const redirect = readRedirect(source);
      if (redirect === undefined) break;
      redirects.push(redirect);
    }
    return { ...compound, redirects, text: source.text.slice(start, source.position).trimEnd() };
  });
}

function readSimple(source: Source, start: number): Command {
  const assignments: Assignment[] = [];
  const words: Word[] = [];
  const redirects: Redirect[] = [];
  let end = start;
  for (;;) {
    skipBlanks(source);
    const redirect = readRedirect(source);
    if (redirect !== undefined) {
      redirects.push(redirect);
      end = source.position;
      continue;
    }
    const assignment = words.length === 0 ? readAssignment(source) : undefined;
    if (assignment !== undefined) {
      assignments.push(assignment);
      end = source.position;
      continue;
    }
    const word = readWord(source);
    if (word === undefined) break;
    words.push(word);
    end = source.position;
  }
  if (source.peek() === "(") {
    if (words.length !== 1 || assignments.length > 0 || redirects.length > 0) source.fail('unexpected "("');
    readEmptyParentheses(source);
    return { ...functionBody(source), redirects: [], text: source.text.slice(start, source.position) };
  }
  if (words.length + assignments.length + redirects.length === 0) {
    source.fail(source.peek() === "" ? "a command is missing at the end" : `unexpected "${source.peek()}"`);
  }
  return { type: "simple", assignments, words, redirects, text: source.text.slice(start, end) };
}

const ASSIGNMENT = /([A-Za-z_][A-Za-z0-9_]*)(\[|\+?=)/y;

function readAssignment(source: Source): Assignment | undefined {
  source.peek();
  ASSIGNMENT.lastIndex = source.position;
  const match = ASSIGNMENT.exec(source.text);
  if (match === null) {
    refuseJoinedName(source);
    return undefined;
  }
  const [whole, name = "", operator = ""] = match;
  if (operator === "[") source.fail("it assigns to an element of an array");
  source.take(whole);
  const append = operator === "+=";
  if (source.peek() === "(") return { name, append, array: true, words: readArray(source) };
  const value = readWord(source, { assignment: true });
  return { name, append, array: false, words: [value ?? { parts: [], text: "" }] };
}

/** `PA\<newline>TH=…` is an assignment to bash. */
function refuseJoinedName(source: Source): void {
  if (/^[A-Za-z_][A-Za-z0-9_]*\+?\\\n/.test(source.text.slice(source.position, source.position + 100))) {
    source.fail("a line is continued inside what may be the name of a variable");
  }
}

function readArray(source: Source): Word[] {
  const words: Word[] = [];
  source.take("(");
  for (;;) {
    skipLines(source);
    if (source.peek() === ")") break;
    const word = readWord(source);
    if (word === undefined) source.fail("an array is not closed");
    words.push(word);
  }
  source.position += 1;
  return words;
}
