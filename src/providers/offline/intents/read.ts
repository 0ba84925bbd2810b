/** Showing a file or some of its lines. */
import { listCall } from "../calls.js";
import { type NamedFile, type NamedText, namedFile, namedPath, readText, tryReadText, unreadable } from "../files.js";
import { phraseIntent } from "../intent.js";
import { parseFolderListing } from "../outputs/folder-listing.js";
import phrases from "../phrases/read.txt";
import type { Phrase } from "../phrases.js";
import { call, type Plan } from "../plan.js";
import { numberOf, type RequestText } from "../request-text.js";
import { code, count, fenced, paragraphs } from "../wording.js";

interface ReadSlots extends NamedFile {
  readonly lines?: LineRange;
}

type LineRange =
  | { readonly type: "range"; readonly from: number; readonly to?: number }
  | { readonly type: "first" | "last"; readonly count: number };

const A_FEW_LINES = 10;
const SHOWN_LINES = 400;

function readSlots({ meaning, slots }: Phrase, request: RequestText): ReadSlots | undefined {
  const { text } = request;
  // A bare word is a file only when it cannot be a slash command or part of one.
  if (/^\/\w+$/.test(text)) return undefined;
  const file = (/^what/i.test(text) ? namedFile : namedPath)(slots.file, request);
  if (file === undefined || meaning === "whole") return file;
  if (meaning === "range") return { ...file, lines: toRange(slots, text) };
  const usual = /\bline\b/i.test(text) ? 1 : A_FEW_LINES;
  const number = slots.n === undefined ? usual : numberOf(slots.n);
  return { ...file, lines: { type: meaning === "first" ? "first" : "last", count: number } };
}

function toRange({ from, to }: Phrase["slots"], text: string): LineRange {
  const first = Math.max(1, Number(from));
  const isOpen = to === undefined && /\bfrom (?:line )?\d+(?: on(?:wards?)?| to the end)?$/i.test(text);
  if (isOpen) return { type: "range", from: first };
  const last = Number(to ?? first);
  return { type: "range", from: Math.min(first, last), to: Math.max(first, last) };
}

function* planRead({ lines, ...file }: ReadSlots): Plan {
  if (lines?.type === "last") return yield* planLast(file, lines.count);
  const text = yield* tryReadText(file, partOf(lines));
  if (typeof text === "string") return text;
  if (!("failed" in text)) return describeText(text);
  return /\bis a (?:folder|directory)\b/i.test(text.text) ? yield* planFolder(file.path) : unreadable(file.path, text);
}

function partOf(lines: LineRange | undefined) {
  if (lines === undefined) return { limit: SHOWN_LINES };
  if (lines.type !== "range") return { limit: lines.count };
  return { offset: lines.from, limit: lines.to === undefined ? SHOWN_LINES : lines.to - lines.from + 1 };
}

function* planLast(file: NamedFile, most: number): Plan {
  // Reading the first line also returns the number of lines.
  const head = yield* readText(file, { limit: 1 });
  if (typeof head === "string") return head;
  const { path, lines, totalLines } = head;
  if (lines.length === 0) return describeText(head);
  if (totalLines === undefined)
    return `${code(path)} is too large for its number of lines to be known, so its end cannot be shown. Try: run ${code(`tail -n ${most} ${path}`)}`;
  const end = yield* readText({ path }, { offset: Math.max(1, totalLines - most + 1), limit: most });
  return typeof end === "string" ? end : describeText(end);
}

function describeText({ path, lines, totalLines, linesCut }: NamedText): string {
  const first = lines[0]?.line;
  const last = lines.at(-1)?.line;
  if (first === undefined || last === undefined) return `${code(path)} is empty.`;
  const range = first === last ? `line ${first}` : `lines ${first}-${last}`;
  const isWhole = first === 1 && last === totalLines;
  const extent = isWhole ? ` (${count(totalLines, "line")})` : `, ${range} of ${totalLines ?? "a large file"}`;
  const cut = linesCut ? "Some lines are cut." : undefined;
  return paragraphs(`${code(path)}${extent}:`, fenced(lines.map((line) => line.text).join("\n")), cut);
}

function* planFolder(path: string): Plan {
  const { text } = parseFolderListing((yield* call(listCall({ path }))).text);
  return text === "" ? `${code(path)} is an empty folder.` : paragraphs(`${code(path)} is a folder:`, fenced(text));
}

export const matchRead = phraseIntent({ name: "read", phrases, read: readSlots, plan: planRead });
