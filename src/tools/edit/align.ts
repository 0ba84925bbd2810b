/**
 * Pairs the lines of a quotation with those of the file, where both have the same fingerprint.
 *
 * 1. Lines with text pair up one to one. Only blank lines may be missing on either side.
 * 2. The last element of a quotation that ends with a newline is the start of the line after it.
 */
import type { Fingerprint } from "./fingerprint.js";
import { evenlySpaced, type SearchedText } from "./searched-text.js";

export interface Quotation {
  readonly file: SearchedText;
  /** The place where the quotation's fingerprint was found in the file's. */
  readonly at: number;
  readonly old: string;
  readonly oldPrint: Fingerprint;
}

export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Line {
  readonly quoted: string;
  readonly blank: boolean;
  /** Absent when the file lacks this blank line. */
  readonly actual?: Stretch;
  /** Blank lines before it that only the file has. */
  readonly gap?: readonly string[];
  /** A blank line that the file lacks at the very start or end of the quotation, where it has other text. */
  readonly outer?: true;
  /** It starts within a line of the file, so that its leading space is not indentation. */
  readonly inside?: true;
  /** The quotation ends before this punctuation, which ends the file's line. */
  readonly rest?: Stretch;
  /** The quotation ends within a line of the file. */
  readonly cut?: true;
  /** Its first and last character in the quotation's fingerprint. */
  readonly first: number;
  readonly last: number;
}

/** Explains why an edit cannot be applied to the file; completes the sentence "It comes close, but …". */
export class Refusal extends Error {}

const ESCAPED_BREAKS = "its line breaks are escaped";

export function align(quotation: Quotation): readonly Line[] {
  const { old, oldPrint, file } = quotation;
  const { text } = file;
  const ends = old.slice(0, oldPrint.starts[0]) + old.slice(oldPrint.ends.at(-1));
  if (/\\[nr]/.test(ends)) throw new Refusal(ESCAPED_BREAKS);
  const lines = quotedLines(quotation);
  const solid = lines.flatMap((line, i) => (line.blank ? [] : [i]));
  for (const i of solid) lines[i] = { ...(lines[i] as Line), ...actualLine(quotation, lines, i) };
  for (let i = 1; i < solid.length; i++) {
    alignGap(text, lines, { from: solid[i - 1] as number, to: solid[i] as number });
  }
  alignStart(text, lines, solid[0] ?? 0);
  alignEnd(text, lines, solid.at(-1) ?? 0);
  refuseStrangers(file, lines);
  if (solid.length > 1 && lines.some((line) => line.inside || line.cut)) {
    throw new Refusal("it begins or ends in the middle of a line");
  }
  return lines;
}

/**
 * A line that exists in the file exactly, but elsewhere, or a bracket with other punctuation indicates that the edit means other
 * lines than those that were found.
 */
function refuseStrangers(file: SearchedText, lines: readonly Line[]): void {
  for (const { blank, quoted, actual, rest } of lines) {
    const found = (actual?.text ?? "") + (rest?.text ?? "");
    if (blank || evenlySpaced(quoted) === evenlySpaced(found)) continue;
    if (!/[\p{L}\p{N}]/u.test(quoted) && endMarks(quoted) !== endMarks(found)) {
      throw new Refusal("it ends a line with other punctuation than the file");
    }
    if (file.hasLine(quoted)) throw new Refusal("a line of it is not here but elsewhere in the file");
  }
}

/** The range of the file that the quotation covers. */
export function extentOf(lines: readonly Line[]): { start: number; end: number } {
  const places = lines.flatMap((line) => line.actual ?? []);
  return { start: (places[0] as Stretch).start, end: (places.at(-1) as Stretch).end };
}

function quotedLines({ old, oldPrint }: Quotation): Line[] {
  let start = 0;
  let at = 0;
  return old.split("\n").map((quoted) => {
    const end = start + quoted.length;
    while (at < oldPrint.text.length && (oldPrint.starts[at] as number) < start) at++;
    const first = at;
    while (at < oldPrint.text.length && (oldPrint.starts[at] as number) < end) at++;
    start = end + 1;
    return { quoted, blank: at === first, first, last: at - 1 };
  });
}

function actualLine(quotation: Quotation, lines: readonly Line[], index: number): Partial<Line> {
  const { file, at, old, oldPrint } = quotation;
  const { text, print } = file;
  const line = lines[index] as Line;
  const from = print.starts[at + line.first] as number;
  const to = print.ends[at + line.last] as number;
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const lineEnd = endOfLine(text, to);
  const inside = text.slice(lineStart, from).trim() !== "";
  const isCutEnd = index === lines.length - 1;
  const following = text.slice(to, lineEnd);
  if (text.slice(from, to).includes("\n")) throw new Refusal(ESCAPED_BREAKS);
  if (inside && index > 0) throw new Refusal("it breaks a line where the file does not");
  if (!isCutEnd && !/^[\s,;]*$/.test(following)) throw new Refusal("it ends a line where the file does not");
  const start = inside ? from - spaceBefore(text, from, line.quoted) : lineStart;
  const end = isCutEnd ? to + sharedTail(following, old.slice(oldPrint.ends[line.last])) : lineEnd;
  const left = text.slice(end, lineEnd);
  const rest = /^\s*[,;][\s,;]*$/.test(left) ? stretch(text, end, lineEnd) : undefined;
  return {
    actual: stretch(text, start, end),
    ...(inside ? { inside: true } : {}),
    ...(rest === undefined ? {} : { rest }),
    ...(rest === undefined && left.trim() !== "" ? { cut: true } : {}),
  };
}

/** Space before a place inside a line belongs to the quotation if that starts with space too. */
function spaceBefore(text: string, at: number, quoted: string): number {
  if (!/^\s/.test(quoted)) return 0;
  let start = at;
  while (start > 0 && /[^\S\n]/.test(text[start - 1] as string)) start--;
  return at - start;
}

/** Tells how much of the following text belongs to the end of the quotation: its own punctuation, and space at a line's end. */
function sharedTail(following: string, tail: string): number {
  let length = 0;
  for (const mark of tail.replace(/[^,;]/g, "")) {
    const space = leadingSpace(following.slice(length)).length;
    if (following[length + space] !== mark) break;
    length += space + 1;
  }
  const space = leadingSpace(following.slice(length)).length;
  return /\s$/.test(tail) || length + space === following.length ? length + space : length;
}

/** Blank lines between two lines that are quoted one after the other. */
function alignGap(text: string, lines: Line[], { from, to }: { from: number; to: number }): void {
  const before = actualOf(lines, from);
  const after = actualOf(lines, to);
  if (before.end >= after.start) throw new Refusal("it breaks a line where the file does not");
  const blanks = text
    .slice(before.end + 1, after.start)
    .split("\n")
    .slice(0, -1);
  let start = before.end + 1;
  for (let i = from + 1; i < to && blanks.length > 0; i++) {
    const blank = blanks.shift() as string;
    lines[i] = { ...(lines[i] as Line), actual: stretch(text, start, start + blank.length) };
    start += blank.length + 1;
  }
  if (blanks.length > 0) lines[to] = { ...(lines[to] as Line), gap: blanks };
}

/** Blank lines that the quotation starts with: as many as the file has. */
function alignStart(text: string, lines: Line[], first: number): void {
  if (first > 0 && lines[first]?.inside) throw new Refusal("it starts a line where the file does not");
  let { start } = actualOf(lines, first);
  for (let i = first - 1; i >= 0 && start > 0; i--) {
    const previous = start < 2 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
    if (text.slice(previous, start).trim() !== "") {
      for (let j = i; j >= 0; j--) lines[j] = { ...(lines[j] as Line), outer: true };
      return;
    }
    lines[i] = { ...(lines[i] as Line), actual: stretch(text, previous, start - 1) };
    start = previous;
  }
}

/** The same at the end. The text after the last newline is the start of a line, or a whole blank line. */
function alignEnd(text: string, lines: Line[], last: number): void {
  let { end } = actualOf(lines, last);
  for (let i = last + 1; i < lines.length && end < text.length; i++) {
    const isFinal = i === lines.length - 1;
    const next = text.slice(end + 1, endOfLine(text, end + 1));
    const isBlank = next.trim() === "";
    const taken = isFinal && (lines[i]?.quoted === "" || !isBlank) ? "" : next;
    if (!isFinal && (!isBlank || end + 1 + taken.length === text.length)) {
      lines[i] = { ...(lines[i] as Line), outer: true };
      continue;
    }
    lines[i] = { ...(lines[i] as Line), actual: stretch(text, end + 1, end + 1 + taken.length) };
    end += 1 + taken.length;
  }
}

/** Every line with text has one. */
function actualOf(lines: readonly Line[], index: number): Stretch {
  return lines[index]?.actual as Stretch;
}

function stretch(text: string, start: number, end: number): Stretch {
  return { start, end, text: text.slice(start, end) };
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at < 0 ? text.length : at;
}

export function leadingSpace(line: string): string {
  return (/^\s*/.exec(line) as RegExpExecArray)[0];
}

/** `,` and `;` at the end of a line. */
export function endMarks(line: string): string {
  let start = line.length;
  while (start > 0 && /[,;\s]/.test(line[start - 1] as string)) start--;
  return line.slice(start).replace(/\s/g, "");
}
