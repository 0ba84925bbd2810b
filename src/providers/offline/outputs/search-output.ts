/**
 * Parses the results of `grep` and `glob`. If a listing is cut, its last line says so in brackets, and every answer made from the
 * listing must say so too.
 */
import type { NumberedLine } from "./file-text.js";

interface Listing {
  readonly cut?: {
    /** The total number, if the note has it. */
    readonly total?: number;
    readonly totalFiles?: number;
  };
}

export interface PathList extends Listing {
  readonly paths: readonly string[];
}

export interface CountList extends Listing {
  readonly files: readonly { readonly path: string; readonly count: number }[];
}

export interface MatchedFile {
  readonly path: string;
  readonly lines: readonly NumberedLine[];
}

export interface MatchList extends Listing {
  readonly files: readonly MatchedFile[];
}

const NOTE = /^\[(?:The first|[\d,.]+ more|… ).*\]$/;
const NOTHING = /^(?:No matches\.?|No files? match(?:es)?\b.*|No files found\.?)$/;

/** The lines without notes, and what the notes say. */
function splitNotes(text: string): { readonly lines: readonly string[]; readonly rest: Listing } {
  if (NOTHING.test(text.trim())) return { lines: [], rest: {} };
  const all = text.split("\n");
  const lines = all.filter((line) => !NOTE.test(line));
  const note = all.findLast((line) => NOTE.test(line));
  if (note === undefined) return { lines, rest: {} };
  const more = toNumber(/^\[([\d,.]+) more/.exec(note)?.[1]);
  if (more !== undefined) return { lines, rest: { cut: { total: lines.filter((line) => line !== "").length + more } } };
  const match = /^\[The first [\d,.]+ of ([\d,.]+) (?:files?|matching lines?)(?: in ([\d,.]+) files?)?/.exec(note);
  const [total, totalFiles] = [toNumber(match?.[1]), toNumber(match?.[2])];
  const cut = { ...(total !== undefined && { total }), ...(totalFiles !== undefined && { totalFiles }) };
  return { lines, rest: { cut } };
}

/** A number with separators: `1,234`. */
export function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text.replace(/[^\d]/g, ""));
}

/** One path a line: `glob`, and `grep` in mode `files`. */
export function parsePaths(text: string): PathList {
  const { lines, rest } = splitNotes(text);
  return { paths: lines.filter((line) => line !== ""), ...rest };
}

/** `path:number` a line: `grep` in mode `count`. */
export function parseCounts(text: string): CountList {
  const { lines, rest } = splitNotes(text);
  const matches = lines.flatMap((line) => [...line.matchAll(/^(.+):(\d+)$/g)]);
  return { files: matches.map(([, path = "", number]) => ({ path, count: Number(number) })), ...rest };
}

/** A path, then `number:text` lines, an empty line between files: `grep` in mode `content`. */
export function parseMatches(text: string): MatchList {
  const { lines, rest } = splitNotes(text);
  const blocks = lines.join("\n").split(/\n{2,}/);
  const files = blocks.map((block) => {
    const [path = "", ...rows] = block.replace(/^\n+/, "").split("\n");
    const matches = rows.flatMap((row) => [...row.matchAll(/^(\d+):(.*)$/gs)]);
    return { path, lines: matches.map(([, line, found = ""]) => ({ line: Number(line), text: found })) };
  });
  return { files: files.filter(({ path }) => path !== ""), ...rest };
}
