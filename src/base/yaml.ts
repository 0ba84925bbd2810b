/**
 * The part of YAML that people write into front matter: mappings, lists, quoted and plain text, block scalars (`|`, `>`), flow lists and
 * maps, comments.
 *
 * 1. Every scalar is text: `1.0` stays `1.0`, `yes` stays `yes`. The reader of a field decides what the text means. Nothing is null.
 * 2. Common forms that a strict parser refuses (`description: Use when: …`, `globs: *.ts`) are a problem, not an error: the value is
 *    the text as written. Text without a sensible meaning throws a YamlError.
 * 3. Anchors, aliases, tags and several documents are not supported; they are text, too.
 */
import { readFlow } from "./yaml-flow.js";

export type YamlValue = string | null | readonly YamlValue[] | YamlMap;
export type YamlMap = ReadonlyMap<string, YamlValue>;

export interface YamlProblem {
  /** The line in the text, from 1. */
  readonly line: number;
  /** A sentence without its full stop. */
  readonly message: string;
}

export interface ParsedYaml {
  readonly value: YamlValue;
  readonly problems: readonly YamlProblem[];
}

export class YamlError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(`${message} at line ${line}`);
    this.name = "YamlError";
    this.line = line;
  }
}

interface Line {
  readonly indent: number;
  /** Without indentation and line end. */
  readonly text: string;
  readonly number: number;
}

const MAX_DEPTH = 20;
const MAX_FLOW_LINES = 200;
/** A key in quotation marks, and the rest of the line. */
const QUOTED_KEY = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')[ \t]*:(?:[ \t]+(.*))?$/;
/** Characters that no plain key begins with. */
const NO_KEY = /^(?:["'#[\]{},&*!|>%@`]|[-?](?:\s|$))/;
const ITEM = /^-(?:[ \t]+(.*))?$/;
const BLOCK = /^([|>])(?:([+-])?([1-9])?|([1-9])([+-])?)[ \t]*(?:#.*)?$/;

/** `firstLine`: the number of the first line, for messages. */
export function parseYaml(text: string, firstLine = 1): ParsedYaml {
  const reader = new Reader(text, firstLine);
  return { value: reader.document(), problems: reader.problems };
}

class Reader {
  readonly problems: YamlProblem[] = [];
  readonly #lines: Line[];
  #at = 0;
  #depth = 0;

  constructor(text: string, firstLine: number) {
    this.#lines = text.split(/\r\n|\r|\n/).map((raw, index) => this.#line(raw, firstLine + index));
  }

  #line(raw: string, number: number): Line {
    const space = /^[ \t]*/.exec(raw)?.[0] ?? "";
    const text = raw.slice(space.length).trimEnd();
    if (space.includes("\t") && text !== "" && !text.startsWith("#")) this.#warn("A tab indents the line", number);
    return { indent: space.replaceAll("\t", "  ").length, text, number };
  }

  document(): YamlValue {
    const value = this.#block(0);
    const left = this.#peek();
    if (left !== undefined) throw new YamlError("This line does not belong to the lines above it", left.number);
    return value;
  }

  #warn(message: string, line: number): void {
    this.problems.push({ line, message });
  }

  /** The next line that is neither blank nor a comment. */
  #peek(): Line | undefined {
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at];
      if (line !== undefined && line.text !== "" && !line.text.startsWith("#")) return line;
    }
    return undefined;
  }

  #block(least: number): YamlValue {
    const first = this.#peek();
    if (first === undefined || first.indent < least) return null;
    if (++this.#depth > MAX_DEPTH) throw new YamlError("The values are nested too deeply", first.number);
    const value = this.#blockAt(first);
    this.#depth--;
    return value;
  }

  #blockAt(first: Line): YamlValue {
    if (ITEM.test(first.text)) return this.#list(first.indent);
    if (readKey(first.text) !== undefined) return this.#map(first.indent);
    this.#at++;
    return this.#scalar(first.text, first, first.indent - 1);
  }

  #map(indent: number): YamlMap {
    const map = new Map<string, YamlValue>();
    for (let line = this.#peek(); line !== undefined && line.indent >= indent; line = this.#peek()) {
      const read = readKey(line.text);
      if (read === undefined || line.indent !== indent) throw new YamlError(whyNoKey(line, indent), line.number);
      const { key, rest } = read;
      if (map.has(key)) this.#warn(`'${key}' appears twice; the last one counts`, line.number);
      this.#at++;
      map.set(key, this.#value(rest, line, indent));
    }
    return map;
  }

  #list(indent: number): readonly YamlValue[] {
    const list: YamlValue[] = [];
    for (let line = this.#peek(); line?.indent === indent; line = this.#peek()) {
      const match = ITEM.exec(line.text);
      if (match === null) break;
      const rest = match[1] ?? "";
      if (readKey(rest) !== undefined || ITEM.test(rest)) {
        // The item begins a nested map or list: parse it as if it were alone on its line.
        const inner = indent + line.text.length - rest.length;
        this.#lines[this.#at] = { ...line, indent: inner, text: rest };
        list.push(this.#block(inner));
      } else {
        this.#at++;
        list.push(this.#value(rest, line, indent));
      }
    }
    return list;
  }

  /** The value after a key or a dash. */
  #value(rest: string, line: Line, indent: number): YamlValue {
    if (rest !== "" && !rest.startsWith("#")) return this.#scalar(rest, line, indent);
    const next = this.#peek();
    if (next === undefined) return null;
    if (next.indent > indent) return this.#block(indent + 1);
    const isListOfKey = next.indent === indent && ITEM.test(next.text) && !ITEM.test(line.text);
    return isListOfKey ? this.#list(indent) : null;
  }

  #scalar(rest: string, line: Line, indent: number): YamlValue {
    const block = BLOCK.exec(rest);
    if (block !== null) {
      const [, style, chompA, sizeA, sizeB, chompB] = block;
      const size = sizeA ?? sizeB;
      const lines = this.#blockLines(indent, size === undefined ? undefined : Math.max(0, indent) + Number(size));
      return blockText(lines, { folds: style === ">", chomp: chompA ?? chompB ?? "" });
    }
    if (rest.startsWith('"') || rest.startsWith("'")) return this.#quoted(rest, line, indent);
    if (rest.startsWith("[") || rest.startsWith("{")) return this.#flow(rest, line, indent);
    return this.#plain(rest, line, indent);
  }

  #plain(rest: string, line: Line, indent: number): string {
    const first = withoutComment(rest);
    if (/^[*&!%@`]/.test(first)) this.#warn("A plain text begins with a special character; quote it", line.number);
    const parts = [first];
    const hasComment = first !== rest.trimEnd();
    let blanks = 0;
    for (; !hasComment && this.#at < this.#lines.length; this.#at++) {
      const next = this.#lines[this.#at];
      if (next === undefined || (next.text !== "" && (next.indent <= indent || next.text.startsWith("#")))) break;
      if (next.text === "") blanks++;
      else {
        parts.push(blanks > 0 ? "\n".repeat(blanks) : " ", withoutComment(next.text));
        blanks = 0;
      }
    }
    const text = parts.join("");
    if (/:(?:\s|$)/.test(text)) this.#warn("A plain text holds a colon and a space; quote it", line.number);
    return text;
  }

  #quoted(rest: string, line: Line, indent: number): string {
    const mark = rest[0] ?? "";
    const whole = mark === '"' ? /^"((?:[^"\\]|\\[\s\S])*)"/ : /^'((?:[^']|'')*)'/;
    let text = rest;
    while (!whole.test(text)) {
      const next = this.#lines[this.#at++];
      if (next === undefined || (next.text !== "" && next.indent <= indent)) {
        throw new YamlError("A quotation mark is not closed", line.number);
      }
      text += next.text === "" ? "\n" : text.endsWith("\n") ? next.text : ` ${next.text}`;
    }
    const [all = "", inner = ""] = whole.exec(text) ?? [];
    const after = text.slice(all.length);
    if (after.trim() !== "" && !/^\s+#/.test(after)) {
      this.#warn("Text follows a closing quotation mark", line.number);
      return text;
    }
    return mark === '"' ? unescaped(inner) : inner.replaceAll("''", "'");
  }

  #flow(rest: string, line: Line, indent: number): YamlValue {
    let text = rest;
    for (;;) {
      const read = readFlow(text);
      if (read === "open") {
        const next = this.#lines[this.#at];
        const isOver = next !== undefined && next.indent <= indent && !/^(?:$|[\]}])/.test(next.text);
        if (next === undefined || isOver || next.number - line.number > MAX_FLOW_LINES) {
          throw new YamlError(`'${text[0]}' is not closed`, line.number);
        }
        this.#at++;
        text += `\n${next.text}`;
        continue;
      }
      const after = read === "wrong" ? "wrong" : text.slice(read.end).trim();
      if (read !== "wrong" && (after === "" || after.startsWith("#"))) return read.value;
      this.#warn("A text begins with a bracket; quote it", line.number);
      return this.#plain(text, line, indent);
    }
  }

  /** The lines of a block scalar, without their common indentation. */
  #blockLines(parent: number, explicit: number | undefined): readonly string[] {
    const lines: string[] = [];
    let base = explicit;
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at];
      if (line === undefined) break;
      if (line.text === "") lines.push("");
      else {
        if (line.indent <= parent || (base !== undefined && line.indent < base)) break;
        base ??= line.indent;
        lines.push(" ".repeat(line.indent - base) + line.text);
      }
    }
    return lines;
  }
}

function readKey(text: string): { readonly key: string; readonly rest: string } | undefined {
  const [all, double, single, after = ""] = QUOTED_KEY.exec(text) ?? [];
  if (all !== undefined) return { key: single?.replaceAll("''", "'") ?? unescaped(double ?? ""), rest: after };
  const colon = NO_KEY.test(text) ? -1 : text.search(/:(?:[ \t]|$)/);
  const key = text.slice(0, Math.max(0, colon)).trimEnd();
  return key === "" || / #/.test(key) ? undefined : { key, rest: text.slice(colon + 1).trimStart() };
}

function whyNoKey(line: Line, indent: number): string {
  return line.indent === indent ? "This line is not 'NAME: VALUE'" : "This line is indented too far";
}

function withoutComment(text: string): string {
  return text.replace(/(^|\s)#.*$/, "").trimEnd();
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0", e: "\u001b", "\n": "" };

function unescaped(text: string): string {
  return text.replace(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[\s\S])/g, (_, code: string) => {
    if (code.length === 1) return ESCAPES[code] ?? code;
    const point = Number.parseInt(code.slice(1), 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : "\uFFFD";
  });
}

function blockText(lines: readonly string[], { folds, chomp }: { readonly folds: boolean; readonly chomp: string }) {
  let end = lines.length;
  while (end > 0 && lines[end - 1] === "") end--;
  const kept = lines.slice(0, end);
  const text = folds ? folded(kept) : kept.join("\n");
  if (chomp === "-" || text === "") return text;
  return chomp === "+" ? text + "\n".repeat(lines.length - end + 1) : `${text}\n`;
}

/** Line ends become spaces, except beside blank lines and lines that are indented further. */
function folded(lines: readonly string[]): string {
  let text = "";
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    if (before === undefined) text = line;
    else if (line === "") text += "\n";
    else if (before === "") text += isDeep(line) && !text.endsWith("\n\n") ? `\n${line}` : line;
    else text += isDeep(line) || isDeep(before) ? `\n${line}` : ` ${line}`;
  }
  return text;
}

function isDeep(line: string): boolean {
  return line.startsWith(" ");
}
