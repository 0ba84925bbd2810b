/**
 * The variables that a SessionStart hook writes to `CLAUDE_ENV_FILE`, as a shell would read them.
 *
 * 1. Nothing is executed: `export NAME=value`, `declare -x NAME="value"` (the output of `export -p`), `NAME=value` and `unset NAME` count, with quotes,
 *    `$NAME`, `${NAME}` and a leading `~/`. Other statements are left out, and the caller gets them.
 * 2. Several hooks may write one after the other: each sees the variables of those before it.
 */
import { safeLine } from "../../base/terminal-text.js";
import type { HookVariables, VariableOwner } from "./hook-variables.js";

export interface ReadEnvironment {
  /** Undefined for a variable that is unset. */
  readonly values: ReadonlyMap<string, string | undefined>;
  /** Statements that were not understood. */
  readonly ignored: readonly string[];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\u0007", b: "\b", e: "\u001b" };

export function readEnvironmentFile(text: string, known: Readonly<Record<string, string>>): ReadEnvironment {
  const values = new Map<string, string | undefined>();
  const ignored: string[] = [];
  const lookUp = (name: string) => (values.has(name) ? values.get(name) : known[name]) ?? "";
  const reader = new StatementReader(text.replaceAll("\r\n", "\n"), lookUp);
  for (let found = reader.next(); found !== undefined; found = reader.next()) {
    const changes = found.words === undefined ? undefined : changesOf(found.words);
    if (changes === undefined) ignored.push(found.written);
    else for (const [name, value] of changes) values.set(name, value);
  }
  return { values, ignored };
}

type Change = readonly [name: string, value: string | undefined];

/** Undefined if the statement is something else. */
function changesOf(words: readonly string[]): readonly Change[] | undefined {
  const [first = "", ...rest] = words;
  if (first === "unset") {
    const names = rest.filter((word) => word !== "-v");
    return names.every((name) => NAME.test(name)) ? names.map((name) => [name, undefined]) : undefined;
  }
  const exports = ["export", "declare", "typeset"].includes(first);
  const parts = exports ? rest.filter((word) => word !== "-x" && word !== "-g" && word !== "--") : words;
  // `export NAME` sets nothing.
  const assignments = parts.filter((word) => !(exports && NAME.test(word)));
  const changes = assignments.map((word): Change => {
    const at = word.indexOf("=");
    return [word.slice(0, Math.max(at, 0)), word.slice(at + 1)];
  });
  return changes.every(([name]) => NAME.test(name)) ? changes : undefined;
}

interface Statement {
  readonly written: string;
  /** Undefined if it needs a shell. */
  readonly words: readonly string[] | undefined;
}

class StatementReader {
  readonly #text: string;
  readonly #valueOf: (name: string) => string;
  #at = 0;

  constructor(text: string, lookUp: (name: string) => string) {
    this.#text = text;
    this.#valueOf = lookUp;
  }

  next(): Statement | undefined {
    this.#take(/(?:[\s;]|#.*)*/y);
    if (this.#at >= this.#text.length) return undefined;
    const from = this.#at;
    const words: string[] = [];
    for (;;) {
      this.#take(/(?:[ \t]|\\\n)*/y);
      if (
        this.#take(/#.*/y) !== undefined ||
        this.#at >= this.#text.length ||
        /[\n;]/.test(this.#text[this.#at] ?? "")
      ) {
        return { written: this.#text.slice(from, this.#at).trim(), words };
      }
      const word = this.#word();
      if (word === undefined) {
        this.#take(/.*/y);
        return { written: this.#text.slice(from, this.#at).trim(), words: undefined };
      }
      words.push(word);
    }
  }

  /** Undefined at something that only a shell understands. */
  #word(): string | undefined {
    let word = "";
    for (;;) {
      const piece = this.#piece(word);
      if (piece === undefined) return undefined;
      if (piece === "end") return word;
      word += piece.text;
    }
  }

  #piece(before: string): { readonly text: string } | "end" | undefined {
    if (this.#at >= this.#text.length || this.#peek(/[\s;]/y)) return "end";
    const single = this.#take(/'([^']*)'/y);
    if (single !== undefined) return { text: single.slice(1, -1) };
    const special = this.#take(/\$'(?:[^'\\]|\\[\s\S])*'/y);
    if (special !== undefined)
      return { text: special.slice(2, -1).replace(/\\([\s\S])/g, (_, c: string) => ESCAPES[c] ?? c) };
    const double = this.#take(/"(?:[^"\\]|\\[\s\S])*"/y);
    if (double !== undefined) return this.#expanded(double.slice(1, -1), /\\([\\"$`\n])/.source);
    if (/(?:^|[=:])$/.test(before) && this.#peek(/~(?=[/:\s;]|$)/y)) {
      this.#at++;
      return { text: this.#valueOf("HOME") };
    }
    const plain = this.#take(/[=:]|(?:[^\s;'"`&|<>()$\\=:]|\\[\s\S]|\$(?!['"(]))+/y);
    return plain === undefined ? undefined : this.#expanded(plain, /\\([\s\S])/.source);
  }

  /** With the values of variables; undefined if it has a command or an unusual expansion. */
  #expanded(text: string, escaping: string): { readonly text: string } | undefined {
    const parts = new RegExp(`${escaping}|\\$(\\w+)|\\$\\{(\\w+)\\}|(\`|\\$[({])`, "g");
    let isCommand = false;
    const expanded = text.replace(parts, (_, escaped?: string, bare?: string, braced?: string, command?: string) => {
      if (command !== undefined) isCommand = true;
      if (escaped !== undefined) return escaped === "\n" ? "" : escaped;
      return this.#valueOf(bare ?? braced ?? "");
    });
    return isCommand ? undefined : { text: expanded };
  }

  #peek(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text);
  }

  /** Undefined if nothing fits here. */
  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

const SHOWN_CHARACTERS = 60;

interface WrittenEnvironment {
  readonly text: string;
  readonly owner: VariableOwner;
  /** The environment of commands without hooks. */
  readonly known: Readonly<Record<string, string>>;
  /** The value of a variable that a hook may add; undefined if it may not. */
  readonly addedValue: (name: string, value: string) => string | undefined;
}

/** Takes over what a SessionStart hook wrote. Returns messages about what was left out. */
export function takeEnvironment(
  variables: HookVariables,
  { text, owner, known, addedValue }: WrittenEnvironment,
): readonly string[] {
  const before = Object.entries({ ...known, ...variables.of(owner === "user" ? "user" : "all") });
  const { values, ignored } = readEnvironmentFile(
    text,
    Object.fromEntries(before.filter((entry): entry is [string, string] => entry[1] !== undefined)),
  );
  const refused: string[] = [];
  for (const [name, value] of values) {
    const added = addedValue(name, value ?? "");
    if (added === undefined || (name === "PATH" && value === undefined)) refused.push(name);
    else variables.set(owner, name, value === undefined ? undefined : added);
  }
  // Without values: they may be secret.
  const names = ignored.map((statement) => safeLine(statement.split("=")[0] ?? "").slice(0, SHOWN_CHARACTERS));
  return [
    ...(refused.length === 0 ? [] : [`these variables were not added for commands: ${refused.join(", ")}`]),
    ...(ignored.length === 0 ? [] : [`only variables are read, nothing is run; left out: ${names.join(" | ")}`]),
  ];
}
