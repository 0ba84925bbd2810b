/**
 * Reads the text of git's configuration files.
 *
 * The reader follows git and skips what git would refuse. It also reports whether the text is simple: one heading or one setting per
 * line, no value that continues on the next line. A caller that must not misread a file refuses any other text.
 */
import type { GitSetting } from "./harmless-settings.js";

export interface ConfigText {
  readonly settings: readonly GitSetting[];
  readonly isPlain: boolean;
}

const HEADING = /\[[ \t]*([-.A-Za-z0-9]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?[ \t]*\]/y;
const PLAIN_HEADING = /^\[[-A-Za-z0-9]+(?:[ \t]+"(?:[^"\\]|\\["\\])*")?\]$/;
const KEY = /([A-Za-z][-A-Za-z0-9]*)[ \t]*(=)?[ \t]*/y;
const BLANK = /(?:[ \t\r\n\ufeff]|[#;][^\n]*)+/y;
const LINE_REST = /[^\n]*\n?/y;
const LINE_END = /(?:\r?\n|$)/y;
/** A carriage return inside a line, a byte order mark, or a NUL: git and this reader may see different texts. */
const ODD = /\r(?!\n)|[\ufeff\0]/;

/** Undefined if the text is not simple. */
export function parseConfigText(text: string): readonly GitSetting[] | undefined {
  const { settings, isPlain } = readConfigText(text);
  return isPlain ? settings : undefined;
}

export function readConfigText(text: string): ConfigText {
  const settings: GitSetting[] = [];
  let isPlain = !ODD.test(text);
  let prefix = "";
  let isAfterHeading = false;
  let position = 0;
  const take = (shape: RegExp): RegExpExecArray | null => {
    shape.lastIndex = position;
    const found = shape.exec(text);
    if (found !== null) position += found[0].length;
    return found;
  };
  while (position < text.length) {
    const blank = take(BLANK);
    if (blank?.[0].includes("\n")) isAfterHeading = false;
    if (blank !== null) continue;
    const heading = take(HEADING);
    const key = heading === null ? take(KEY) : null;
    if (isAfterHeading || (heading === null && (key === null || prefix === ""))) isPlain = false;
    if (heading !== null) {
      prefix = prefixOf(heading);
      isAfterHeading = true;
      isPlain &&= PLAIN_HEADING.test(heading[0]);
    } else if (key === null) {
      take(LINE_REST);
    } else {
      const read = key[2] === undefined ? NO_VALUE : readValue(text, position);
      if (key[2] !== undefined) position = read.end;
      isPlain &&= read.isPlain && take(LINE_END) !== null;
      settings.push({ name: prefix + (key[1] ?? "").toLowerCase(), value: read.value });
      isAfterHeading = false;
    }
  }
  return { settings, isPlain };
}

function prefixOf([, section = "", quoted]: RegExpExecArray): string {
  const middle = quoted === undefined ? "" : `${quoted.replace(/\\(.)/g, "$1")}.`;
  return `${section.toLowerCase()}.${middle}`;
}

interface Value {
  readonly value: string;
  readonly end: number;
  readonly isPlain: boolean;
}

/** A key without a value is a switch that is on. */
const NO_VALUE: Value = { value: "true", end: 0, isPlain: true };
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", '"': '"', "\\": "\\" };

/** To the end of the line: quotes and escapes are resolved, a comment and the blanks before it are dropped. */
function readValue(text: string, start: number): Value {
  let value = "";
  let kept = 0;
  let quoted = false;
  let isPlain = true;
  let position = start;
  for (; position < text.length && text[position] !== "\n"; position++) {
    const sign = text.charAt(position);
    if (sign === "\\") {
      position += 1;
      const next = text.startsWith("\r\n", position) ? "\n" : text.charAt(position);
      isPlain &&= Object.hasOwn(ESCAPES, next);
      if (next === "\n") position = text.indexOf("\n", position);
      else value += ESCAPES[next] ?? next;
      kept = value.length;
    } else if (sign === '"') {
      quoted = !quoted;
      kept = value.length;
    } else if (!quoted && (sign === "#" || sign === ";")) {
      while (position + 1 < text.length && text[position + 1] !== "\n") position += 1;
    } else {
      value += sign;
      if (quoted || !/[ \t\r]/.test(sign)) kept = value.length;
    }
  }
  return { value: value.slice(0, kept), end: position, isPlain: isPlain && !quoted };
}
