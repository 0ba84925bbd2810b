/**
 * Reads what `grep` and `glob` answer. A listing may have been cut; then a last line in brackets says so, and whatever is
 * computed from the listing has to say so too.
 */
export interface Cut {
  /** How many there are in all, where the note tells. */
  readonly total?: number;
  readonly totalFiles?: number;
}

export interface PathList {
  readonly paths: readonly string[];
  readonly cut?: Cut;
}

export interface FileCount {
  readonly path: string;
  readonly count: number;
}

export interface CountList {
  readonly files: readonly FileCount[];
  readonly cut?: Cut;
}

export interface MatchedLine {
  readonly line: number;
  readonly text: string;
}

export interface MatchedFile {
  readonly path: string;
  readonly lines: readonly MatchedLine[];
}

export interface MatchList {
  readonly files: readonly MatchedFile[];
  readonly cut?: Cut;
}

const NOTE = /^\[(?:The first|[\d,.]+ more|… ).*\]$/;
const NOTHING = /^(?:No matches\.?|No files? match(?:es)?\b.*|No files found\.?)$/;

interface Body {
  readonly lines: readonly string[];
  readonly cut?: Cut;
}

function splitNotes(text: string): Body {
  if (NOTHING.test(text.trim())) return { lines: [] };
  const lines = text.split("\n");
  const notes = lines.filter((line) => NOTE.test(line));
  const body = lines.filter((line) => !NOTE.test(line));
  return notes.length === 0 ? { lines: body } : { lines: body, cut: cutOf(notes, body) };
}

function cutOf(notes: readonly string[], body: readonly string[]): Cut {
  const note = notes.at(-1) ?? "";
  const more = /^\[([\d,.]+) more/.exec(note)?.[1];
  if (more !== undefined) return { total: body.filter((line) => line !== "").length + toNumber(more) };
  const match = /^\[The first [\d,.]+ of ([\d,.]+) (?:files?|matching lines?)(?: in ([\d,.]+) files?)?/.exec(note);
  if (match?.[1] === undefined) return {};
  return { total: toNumber(match[1]), ...(match[2] !== undefined && { totalFiles: toNumber(match[2]) }) };
}

function toNumber(text: string): number {
  return Number(text.replace(/[^\d]/g, ""));
}

/** One path a line: `glob`, and `grep` in mode `files`. */
export function parsePaths(text: string): PathList {
  const { lines, cut } = splitNotes(text);
  return { paths: lines.filter((line) => line !== ""), ...(cut !== undefined && { cut }) };
}

/** `path:number` a line: `grep` in mode `count`. */
export function parseCounts(text: string): CountList {
  const { lines, cut } = splitNotes(text);
  const files: FileCount[] = [];
  for (const line of lines) {
    const match = /^(.+):(\d+)$/.exec(line);
    if (match?.[1] !== undefined) files.push({ path: match[1], count: Number(match[2]) });
  }
  return { files, ...(cut !== undefined && { cut }) };
}

/** A path, then `number:text` lines, an empty line between files: `grep` in mode `content`. */
export function parseMatches(text: string): MatchList {
  const { lines, cut } = splitNotes(text);
  const files: { path: string; lines: MatchedLine[] }[] = [];
  let current: { path: string; lines: MatchedLine[] } | undefined;
  for (const line of lines) {
    if (line === "") {
      current = undefined;
      continue;
    }
    if (current === undefined) {
      current = { path: line, lines: [] };
      files.push(current);
      continue;
    }
    const match = /^(\d+):(.*)$/.exec(line);
    if (match !== null) current.lines.push({ line: Number(match[1]), text: match[2] ?? "" });
  }
  return { files, ...(cut !== undefined && { cut }) };
}
