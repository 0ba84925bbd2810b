/** Reads one line of a script from left to right. Every error names the line and what was expected. */
import { parseDuration } from "../../../base/duration.js";
import type { JsonValue } from "../../../protocol/json.js";

/** A mistake in a script. */
export class ScriptError extends Error {
  readonly line: number;

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
    this.name = "ScriptError";
    this.line = line;
  }
}

export type OptionReaders<T> = { readonly [K in keyof T]-?: (text: string) => Exclude<T[K], undefined> };

export class LineCursor {
  readonly line: number;
  readonly #text: string;
  #at = 0;

  constructor(text: string, line: number) {
    this.#text = text;
    this.line = line;
  }

  /** The rest of the line, for a message. */
  get found(): string {
    const rest = this.#text.slice(this.#at).trim();
    return rest === "" || rest.startsWith("#") ? "the end of the line" : `"${rest}"`;
  }

  fail(problem: string): never {
    throw new ScriptError(this.line, problem);
  }

  /** The match of a pattern here, after blanks. */
  take(pattern: RegExp): string | undefined {
    this.#skipBlanks();
    const sticky = new RegExp(pattern.source, "y");
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.#text)?.[0];
    if (match !== undefined) this.#at += match.length;
    return match;
  }

  peek(pattern: RegExp): boolean {
    const from = this.#at;
    const found = this.take(pattern) !== undefined;
    this.#at = from;
    return found;
  }

  /** A name without blanks or quotes. */
  word(): string | undefined {
    return this.take(/[^\s"#{}[\]=][^\s"{}[\]=]*(?![^\s]*=)/);
  }

  /** A string in double quotes, with JSON's escapes. */
  quoted(): string | undefined {
    if (!this.peek(/"/)) return undefined;
    const literal = this.take(/"(?:[^"\\]|\\.)*"/);
    if (literal === undefined) this.fail(`expected a closing quote after ${this.found}`);
    try {
      return JSON.parse(literal) as string;
    } catch {
      return this.fail(`expected a string with JSON's escapes (\\n, \\", \\u00e9), found ${literal}`);
    }
  }

  /** The raw text of a JSON object or list. */
  json(): string | undefined {
    this.#skipBlanks();
    if (!this.peek(/[{[]/)) return undefined;
    const end = endOfJson(this.#text, this.#at);
    const text = this.#text.slice(this.#at, end);
    if (end === undefined || !isJson(text)) this.fail(`expected complete JSON, found ${this.found}`);
    this.#at = end;
    return text;
  }

  /** The text after `:`, to the end of the line; undefined if there is none. One blank after the colon does not count. */
  verbatim(): string | undefined {
    if (this.take(/:/) === undefined) return undefined;
    const rest = this.#text.slice(this.#at).replace(/^ /, "");
    this.#at = this.#text.length;
    return rest.trim() === "" ? "" : rest;
  }

  /** `name=value` pairs in any order. */
  options<T extends object>(readers: OptionReaders<T>): Partial<T> {
    const found: Partial<T> = {};
    const names = Object.keys(readers) as (keyof T & string)[];
    for (;;) {
      const name = this.take(/[A-Za-z-]+(?==)/);
      if (name === undefined) return found;
      this.#at += 1;
      const key = names.find((known) => toOptionName(known) === name);
      if (key === undefined) this.fail(`expected ${list(names.map(toOptionName), "=")}, found "${name}="`);
      const value = this.peek(/"/) ? this.quoted() : this.take(/[^\s:"]+/);
      if (value === undefined) this.fail(`expected a value after "${name}=", found ${this.found}`);
      found[key] = this.#read(name, value, readers[key]);
    }
  }

  #read<T>(name: string, value: string, reader: (text: string) => T): T {
    try {
      return reader(value);
    } catch (error) {
      return this.fail(`expected ${(error as Error).message} after "${name}=", found "${value}"`);
    }
  }

  end(): void {
    this.#skipBlanks();
    if (this.#at < this.#text.length && this.#text[this.#at] !== "#") {
      this.fail(`expected nothing more on this line, found ${this.found}`);
    }
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#at++;
  }
}

/* ---- readers of option values: they throw what they expected ---- */

export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new Error("a whole number");
  return Number(text);
}

export function positiveNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error("a whole number from 1 up");
  return Number(text);
}

/** With a unit: a bare number would be ambiguous. */
export function duration(text: string): number {
  const ms = /[a-z]$/.test(text) ? parseDuration(text) : undefined;
  if (ms === undefined) throw new Error("a duration with its unit, such as 200ms or 2s,");
  return ms;
}

export function anyText(text: string): string {
  return text;
}

/* ---- text ---- */

export function list(names: readonly string[], suffix = ""): string {
  const quoted = names.map((name) => `${name}${suffix}`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

/** `cache_read` and `everyMs` are written `cache-read=` and `every=`. */
function toOptionName(key: string): string {
  return key
    .replace(/Ms$/, "")
    .replace(/_/g, "-")
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function jsonOrText(text: string): JsonValue {
  return isJson(text) ? (JSON.parse(text) as JsonValue) : text;
}

/** The index of the bracket that closes the one at `from`. */
function endOfJson(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const letter = text[at];
    if (letter === '"') {
      const literal = /"(?:[^"\\]|\\.)*"/y;
      literal.lastIndex = at;
      const match = literal.exec(text)?.[0];
      if (match === undefined) return undefined;
      at += match.length - 1;
    } else if (letter === "{" || letter === "[") depth++;
    else if ((letter === "}" || letter === "]") && --depth === 0) return at + 1;
  }
  return undefined;
}
