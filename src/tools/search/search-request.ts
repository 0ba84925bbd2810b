/** Requests and results of a search, for both engines. */

export type SearchMode = "content" | "files" | "count";

export interface SearchRequest {
  readonly pattern: string;
  readonly mode: SearchMode;
  readonly ignoreCase: boolean;
  /** The pattern is matched against whole files, and `.` matches line ends. */
  readonly multiline: boolean;
  /** Lines before and after each match. */
  readonly context: number;
  /** Most matching lines (content) or files (files, count) to keep. */
  readonly limit: number;
  /** Only files whose path, relative to the start, matches. */
  readonly glob?: string;
}

export interface FoundLine {
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

export interface FoundFile {
  /** Relative to where the search started, with forward slashes. */
  readonly path: string;
  /** Matching lines; matches when the search is multiline and only counts. */
  readonly count: number;
  /** At most as many matching lines as the limit, with their context. */
  readonly lines: readonly FoundLine[];
}

/** Above this number of matching lines the exact number is not reported: the pattern is too broad. */
export const MAX_COUNTED = 20_000;

/** Longer lines are cut around their first match, so that minified code does not fill the result. */
export const MAX_LINE_CHARACTERS = 400;
const BEFORE_MATCH = 100;

/** `column` is where the first match begins. */
export function clipLine(line: string, column: number): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const from = Math.max(0, Math.min(column - BEFORE_MATCH, line.length - MAX_LINE_CHARACTERS));
  const to = from + MAX_LINE_CHARACTERS;
  const start = isLowSurrogate(line, from) ? from + 1 : from;
  const end = isLowSurrogate(line, to) ? to - 1 : to;
  return `${start > 0 ? "…" : ""}${line.slice(start, end)}${end < line.length ? `… [${line.length} characters]` : ""}`;
}

/** Tells whether `clip` may be the result of `clipLine` for some column. */
export function isClipOf(clip: string, line: string): boolean {
  if (line.length <= MAX_LINE_CHARACTERS) return clip === line;
  return line.includes(clip.replace(/^…/, "").replace(/… \[\d+ characters\]$/, ""));
}

function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Compares paths name by name from the left, in the order of a tree. */
export function comparePaths(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === shorter) return a.length - b.length;
  return weight(a.charCodeAt(at)) - weight(b.charCodeAt(at));
}

const SLASH = 0x2f;

/** The end of a name comes before anything that could continue it. */
function weight(code: number): number {
  return code === SLASH ? 0 : code;
}
