/**
 * Parses the results of tools. If a listing is cut, its last line says so in brackets, and every answer made from the listing must say
 * so too. For a failed command, the last line says in brackets how it ended: a command can print such a line itself, so only the last
 * one counts.
 */
import type { ToolFact } from "./plan.js";

export interface Listing {
  /** The total numbers, if the note has them. */
  readonly cut?: { readonly total?: number | undefined; readonly totalFiles?: number | undefined } | undefined;
}

export interface PathList extends Listing {
  readonly paths: readonly string[];
}

export interface CountList extends Listing {
  readonly files: readonly { readonly path: string; readonly count: number }[];
}

interface NumberedLine {
  readonly line: number;
  readonly text: string;
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

/** Separates the lines from what the notes say. */
function splitNotes(text: string): Listing & { readonly lines: readonly string[] } {
  if (NOTHING.test(text.trim())) return { lines: [] };
  const all = text.split("\n");
  const lines = all.filter((line) => !NOTE.test(line));
  const note = all.findLast((line) => NOTE.test(line));
  if (note === undefined) return { lines };
  const more = toNumber(/^\[([\d,.]+) more/.exec(note)?.[1]);
  if (more !== undefined) return { lines, cut: { total: lines.filter((line) => line !== "").length + more } };
  const match = /^\[The first [\d,.]+ of ([\d,.]+) (?:files?|matching lines?)(?: in ([\d,.]+) files?)?/.exec(note);
  return { lines, cut: { total: toNumber(match?.[1]), totalFiles: toNumber(match?.[2]) } };
}

/** Reads a number with separators: `1,234`. */
function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text.replace(/[^\d]/g, ""));
}

/** Reads one path a line: `glob`, and `grep` in mode `files`. */
export function parsePaths(text: string): PathList {
  const { lines, cut } = splitNotes(text);
  return { paths: lines.filter((line) => line !== ""), cut };
}

/** Reads `path:number` a line: `grep` in mode `count`. */
export function parseCounts(text: string): CountList {
  const { lines, cut } = splitNotes(text);
  const matches = lines.flatMap((line) => [...line.matchAll(/^(.+):(\d+)$/g)]);
  return { files: matches.map(([, path = "", number]) => ({ path, count: Number(number) })), cut };
}

/** Reads a path, then `number:text` lines, an empty line between files: `grep` in mode `content`. */
export function parseMatches(text: string): MatchList {
  const { lines, cut } = splitNotes(text);
  const files = lines
    .join("\n")
    .split(/\n{2,}/)
    .map((block) => {
      const [path = "", ...rows] = block.replace(/^\n+/, "").split("\n");
      const matches = rows.flatMap((row) => [...row.matchAll(/^(\d+):(.*)$/gs)]);
      return { path, lines: matches.map(([, line, found = ""]) => ({ line: Number(line), text: found })) };
    });
  return { files: files.filter(({ path }) => path !== ""), cut };
}

export interface FileText {
  readonly lines: readonly NumberedLine[];
  /** The number of lines of the whole file, if known. */
  readonly totalLines?: number | undefined;
  /** All of the file is here, every line in full. */
  readonly whole: boolean;
  /** Some lines are longer than shown. */
  readonly linesCut: boolean;
  /** Not text: an image, or something else that has no lines. */
  readonly notText?: string;
}

/** Reads what `read` answers: numbered lines, and notes in brackets about missing parts. */
export function parseFileText(text: string): FileText {
  if (/ is empty\.$/.test(text) && !text.includes("\t"))
    return { lines: [], totalLines: 0, whole: true, linesCut: false };
  const rows = text.split("\n");
  const found = rows.flatMap((row) => [...row.matchAll(/^ *(\d+)\t(.*)$/gs)]);
  const lines = found.map(([, line, words = ""]) => ({ line: Number(line), text: words }));
  const linesCut = rows.some((row) => /^\[(?:[\d,.]+ lines? cut at|… )/.test(row));
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined || last === undefined) return { lines, whole: false, linesCut, notText: text.trim() };
  const rest = rows.find((row) => /^\[Lines \d+-\d+ of /.test(row));
  const total = toNumber(/^\[Lines \d+-\d+ of ([\d,.]+)\. /.exec(rest ?? "")?.[1]);
  const whole = rest === undefined && first.line === 1 && !linesCut && last.line === lines.length;
  return { lines, whole, linesCut, totalLines: rest === undefined ? last.line : total };
}

/** Joins the lines: the text without its last line end, which numbered lines do not show. */
export function joinedText({ lines }: FileText): string {
  return lines.map(({ text }) => text).join("\n");
}

interface ListedEntry {
  readonly name: string;
  /** From the listed folder, with forward slashes. */
  readonly path: string;
  readonly depth: number;
  readonly kind: "folder" | "file" | "other";
  /** The reason why the inside of a folder was left out. */
  readonly closed: string | undefined;
}

export interface FolderListing {
  readonly entries: readonly ListedEntry[];
  /** Entries that are there and not listed. */
  readonly leftOut: number;
  /** The listing as it came, without notes. */
  readonly text: string;
}

const MORE = /^\[([\d,.]+) more entr(?:y|ies) not shown/m;

/** Reads what `ls` answers: one name a line, folders with a slash, two spaces of indentation for each level. */
export function parseFolderListing(text: string): FolderListing {
  if (/^.* is empty\.$/.test(text.trim())) return { entries: [], leftOut: 0, text: "" };
  const rows = text.split("\n").filter((row) => row !== "" && !MORE.test(row) && !row.startsWith("[… "));
  const parents: string[] = [];
  const entries = rows.map((row): ListedEntry => {
    const depth = Math.min(Math.floor((/^ */.exec(row)?.[0].length ?? 0) / 2), parents.length) + 1;
    const label = row.slice((depth - 1) * 2);
    const [, folder, closed] = /^(.*)\/(?: \((ignored|not listed)\))?$/.exec(label) ?? [];
    const name = folder ?? label.replace(/ (?:-> .*|\(not a regular file\))$/, "");
    parents.splice(depth - 1, parents.length, name);
    const kind = folder !== undefined ? "folder" : name === label ? "file" : "other";
    return { name, path: parents.join("/"), depth, kind, closed };
  });
  return { entries, leftOut: toNumber(MORE.exec(text)?.[1]) ?? 0, text: rows.join("\n") };
}

export interface CommandOutput {
  readonly output: string;
  /** Absent when the command did not end by itself, or never started. */
  readonly exitCode?: number | undefined;
  /** Says how it ended, in words. */
  readonly ending: string;
  readonly ended: "exit" | "stopped" | "not-started";
  /** A part of the output is missing from the result. */
  readonly cut: boolean;
}

const LEFTOVER = /(?:^|\n)\[(\d+ (?:process(?:es)? (?:was|were) still running|of its processes)[^\]\n]*)\]\s*$/;
const ENDING =
  /(?:^|\n)\[(exit code \d+[^\]\n]*|killed by SIG\w+|timed out after [^\]\n]*|cancelled after [^\]\n]*)\]\s*$/;

/** Reads what a shell command printed, and how it ended. */
export function parseCommandOutput(fact: ToolFact): CommandOutput {
  let output = fact.text;
  const notes: string[] = [];
  for (let match = LEFTOVER.exec(output); match !== null; match = LEFTOVER.exec(output)) {
    notes.unshift(match[1] ?? "");
    output = output.slice(0, match.index);
  }
  const ending = fact.failed ? ENDING.exec(output) : null;
  if (ending !== null) output = output.slice(0, ending.index);
  if (output.trim() === "(no output)") output = "";
  const cut = /^\[… [\d,.]+ (?:bytes|characters) (?:left out|cut) here\b/m.test(output);
  if (fact.failed && ending === null) return { output, cut, ended: "not-started", ending: "it was not run" };
  const first = ending?.[1] ?? "exit code 0";
  const code = /^exit code (\d+)/.exec(first)?.[1];
  const ended = code === undefined ? "stopped" : "exit";
  return { output, cut, ended, ending: [first, ...notes].join("; "), exitCode: toNumber(code) };
}

/** Tells whether the command ran, with any result. */
export function hasEnded({ text }: ToolFact): boolean {
  return ENDING.test(text);
}
