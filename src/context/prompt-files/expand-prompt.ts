/**
 * Fills a prompt file with its arguments, files and the output of commands.
 *
 * 1. `$ARGUMENTS` is the line as typed; `$1` … the words of it, in quotation marks if they hold blanks; `$ARGUMENTS[0]` counts from 0.
 *    A file that uses `$0` counts from 0 everywhere, as newer files for Claude Code do.
 * 2. `$NAME` is the word `NAME=…` of the line, or the argument that the field `arguments` names so. Other `$WORDS` stay.
 * 3. `` !`command` `` and a fence that opens with `!` give the output of the command; `@path` the content of a file that exists. Both must be
 *    at the beginning of a line or after a blank, and `@path` outside code.
 * 4. The text of an argument, a file or a command is never expanded itself.
 * 5. Arguments that no placeholder uses are appended.
 */
import { wordsIn } from "../../base/shell-word.js";

export interface PromptArguments {
  /** As it was typed. */
  readonly line: string;
  /** The names of its words, in their order. */
  readonly names: readonly string[];
  /** Says what happens to `$3` if there are only two arguments: `keep` it unchanged, or remove it. */
  readonly missing: "keep" | "empty";
  /** `${NAME}` of the session, such as `CLAUDE_PROJECT_DIR`. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface PromptPorts {
  /** The output of a command, or a reason why there is none. */
  run(command: string): Promise<string>;
  /** Undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
}

type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "command"; readonly text: string; readonly block: boolean }
  | { readonly kind: "file"; readonly text: string };

/** More would be a mistake, or an attack. */
const MOST_INCLUSIONS = 50;

export async function expandPrompt(body: string, args: PromptArguments, ports: PromptPorts): Promise<string> {
  const words = wordsIn(args.line);
  const filler = new Filler(body, words, args);
  const pieces = piecesOf(body);
  const parts: string[] = [];
  let included = 0;
  for (const piece of pieces) {
    const text = filler.fill(piece.text);
    if (piece.kind === "text" || ++included > MOST_INCLUSIONS)
      parts.push(piece.kind === "text" ? text : asWritten(piece));
    else if (piece.kind === "command") parts.push(await ports.run(text.trim()));
    else parts.push(fileText(text, await ports.read(text)));
  }
  const expanded = parts.join("").trim();
  const unused = args.line.trim() !== "" && !filler.used ? `\n\nARGUMENTS: ${args.line.trim()}` : "";
  return expanded + unused;
}

function asWritten(piece: Piece): string {
  return piece.kind === "file" ? `@${piece.text}` : `!\`${piece.text}\``;
}

function fileText(path: string, text: string | undefined): string {
  return text === undefined ? `@${path}` : `@${path}\n<file path="${path}">\n${text.trimEnd()}\n</file>\n`;
}

const PLACEHOLDER =
  /\\(\$(?:ARGUMENTS|\d|[A-Za-z_]))|\$\{([A-Z][A-Z0-9_]*)\}|\$ARGUMENTS\[(\d{1,3})\]|\$(ARGUMENTS)\b|\$(\d{1,2})(?!\d)|\$([A-Za-z_][A-Za-z0-9_]*)/g;

class Filler {
  used = false;
  readonly #words: readonly string[];
  readonly #named: ReadonlyMap<string, string>;
  readonly #args: PromptArguments;
  readonly #first: 0 | 1;

  constructor(body: string, words: readonly string[], args: PromptArguments) {
    this.#words = words;
    this.#args = args;
    this.#first = /(?<!\\)\$0(?!\d)/.test(body) ? 0 : 1;
    const pairs = words.flatMap((word): [string, string][] => {
      const [, name, value = ""] = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(word) ?? [];
      return name === undefined ? [] : [[name, value]];
    });
    const positional = args.names.flatMap((name, index): [string, string][] => {
      const word = words[index];
      return word === undefined ? [] : [[name, word]];
    });
    this.#named = new Map([...positional, ...pairs]);
  }

  fill(text: string): string {
    return text.replace(PLACEHOLDER, (all, escaped, braced, indexed, whole, number, name) => {
      if (escaped !== undefined) return escaped;
      if (braced !== undefined) return this.#variable(all, braced);
      if (whole !== undefined) return this.#use(this.#args.line.trim());
      if (indexed !== undefined) return this.#word(Number(indexed), all);
      if (number !== undefined) return this.#word(Number(number) - this.#first, all);
      const value = this.#named.get(name);
      return value === undefined ? all : this.#use(value);
    });
  }

  #variable(all: string, name: string): string {
    if (name === "ARGUMENTS") return this.#use(this.#args.line.trim());
    const { variables = {} } = this.#args;
    return Object.hasOwn(variables, name) ? (variables[name] ?? all) : all;
  }

  #word(index: number, all: string): string {
    const word = this.#words[index];
    this.used ||= index >= 0;
    if (word !== undefined) return word;
    return this.#args.missing === "keep" || index < 0 ? all : "";
  }

  #use(value: string): string {
    this.used = true;
    return value;
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const INLINE = /(^|\s)(?:!`([^`\n]+)`|@((?:~?\/|\.{1,2}\/)?[\w$.-][\w$./-]*))/g;

function piecesOf(body: string): readonly Piece[] {
  const pieces: Piece[] = [];
  const lines = body.split("\n");
  let fence: string | undefined;
  let command: string[] | undefined;
  for (const [index, line] of lines.entries()) {
    const end = index === lines.length - 1 ? "" : "\n";
    const [, mark, info = ""] = FENCE.exec(line) ?? [];
    if (fence === undefined && mark !== undefined) {
      fence = mark;
      if (info.trim() === "!") command = [];
      else pieces.push({ kind: "text", text: line + end });
    } else if (fence !== undefined && mark?.startsWith(fence) && info.trim() === "") {
      if (command !== undefined) pieces.push({ kind: "command", text: command.join("\n"), block: true });
      pieces.push({ kind: "text", text: command === undefined ? line + end : end });
      fence = undefined;
      command = undefined;
    } else if (command !== undefined) command.push(line);
    else if (fence !== undefined) pieces.push({ kind: "text", text: line + end });
    else pieces.push(...inlinePieces(line), { kind: "text", text: end });
  }
  // A fence that is never closed is text.
  if (command !== undefined) pieces.push({ kind: "text", text: `${fence}!\n${command.join("\n")}` });
  return pieces;
}

function inlinePieces(line: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of line.matchAll(INLINE)) {
    const [all, before = "", command, path] = match;
    if (path !== undefined && isInCode(line, match.index)) continue;
    pieces.push({ kind: "text", text: line.slice(end, match.index) + before });
    end = match.index + all.length;
    if (command !== undefined) pieces.push({ kind: "command", text: command, block: false });
    else {
      const name = (path ?? "").replace(/[.]+$/, "");
      pieces.push({ kind: "file", text: name });
      end -= (path ?? "").length - name.length;
    }
  }
  return [...pieces, { kind: "text", text: line.slice(end) }];
}

/** Between two backquotes of its line. */
function isInCode(line: string, at: number): boolean {
  return (line.slice(0, at).match(/`/g)?.length ?? 0) % 2 === 1;
}
