/** The last lines of a text, without reading all of a long one. */
import { safeText } from "../../../base/terminal-text.js";

export interface Tail {
  /** Safe for the screen. */
  readonly lines: readonly string[];
  /** Lines before them. */
  readonly before: number;
}

/** The most characters to read of one line. */
const MAX_LINE = 4000;

export function tailOf(text: string, most: number): Tail {
  const end = text.trimEnd();
  if (end === "") return { lines: [], before: 0 };
  let from = end.length;
  for (let line = 0; line < most && from > 0; line++) from = end.lastIndexOf("\n", from - 1);
  const start = from <= 0 ? 0 : from + 1;
  const shown = Math.max(start, end.length - most * MAX_LINE);
  const lines = safeText(end.slice(shown)).split("\n");
  // Carriage returns split a line into several.
  return { lines: lines.slice(-most), before: countLines(end, shown) + Math.max(0, lines.length - most) };
}

/** Line breaks before a place. */
function countLines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

export function lineCount(text: string): number {
  const end = text.trimEnd();
  return end === "" ? 0 : countLines(end, end.length) + 1;
}
