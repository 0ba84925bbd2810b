/** Showing a file or some of its lines. */

import { listCall, readCall } from "../calls.js";
import type { Intent } from "../intent.js";
import { lookUpDocument } from "../look-up.js";
import { numberOf } from "../number-words.js";
import { type FileText, parseFileText } from "../outputs/file-text.js";
import { parseFolderListing } from "../outputs/folder-listing.js";
import phrases from "../phrases/read.txt";
import { type Phrase, PhraseBook } from "../phrases.js";
import { call, type Plan, type ToolFact } from "../plan.js";
import type { RequestText } from "../request-text.js";
import { cleanPath, looksLikeFile, looksLikePath } from "../scope.js";
import { code, count, fenced, paragraphs } from "../wording.js";

export interface ReadSlots {
  readonly path: string;
  /** A name without a place or an ending ("the readme"): the file is looked for. */
  readonly lookUp?: true;
  readonly lines?: LineRange;
}

export type LineRange =
  | { readonly type: "range"; readonly from: number; readonly to?: number }
  | { readonly type: "first"; readonly count: number }
  | { readonly type: "last"; readonly count: number };

const PHRASES = new PhraseBook(phrases);
const A_FEW_LINES = 10;

export function parseRead(request: RequestText): ReadSlots | undefined {
  // A bare word is a file only when it cannot be a slash command or part of one.
  if (/^\/\w+$/.test(request.text)) return undefined;
  const named = /^what/i.test(request.text) ? namedFile : namedPath;
  for (const { meaning, slots } of PHRASES.matches(request.text)) {
    const file = slots.file === undefined ? undefined : named(slots.file, request);
    if (file === undefined) continue;
    const lines = linesOf(meaning, slots, request.text);
    return { ...file, ...(lines !== undefined && { lines }) };
  }
  return undefined;
}

function linesOf(meaning: string, slots: Phrase["slots"], text: string): LineRange | undefined {
  if (meaning === "range") return toRange(slots, text);
  if (meaning === "first" || meaning === "last") return { type: meaning, count: toCount(slots.n, text) };
  return undefined;
}

const DOCUMENTS = /^(?:readme|licen[cs]e|changelog|contributing|makefile|dockerfile)$/i;

export type NamedFile = Pick<ReadSlots, "path" | "lookUp">;

/** The file or folder that a slot names, when it names one. */
export function namedPath(slot: string, request: RequestText): NamedFile | undefined {
  const { value, quoted } = request.term(slot);
  if (value === "" || value.includes("\n")) return undefined;
  if (!quoted && DOCUMENTS.test(value)) return { path: value, lookUp: true };
  // Only inside quotes may a file name hold spaces.
  const meant = looksLikePath(quoted ? value.trim().replaceAll(" ", "_") : value) && !value.endsWith("/");
  return meant ? { path: cleanPath(value) } : undefined;
}

/** The same, where only a file makes sense and its name shows that it is one. */
export function namedFile(slot: string, request: RequestText): NamedFile | undefined {
  const named = namedPath(slot, request);
  return named?.lookUp || looksLikeFile((named?.path ?? "").replaceAll(" ", "_")) ? named : undefined;
}

function toRange({ from, to }: Phrase["slots"], text: string): LineRange {
  const first = Math.max(1, Number(from));
  if (to === undefined && /\bfrom (?:line )?\d+(?: on(?:wards?)?| to the end)?$/i.test(text))
    return { type: "range", from: first };
  if (to !== undefined) return { type: "range", from: Math.min(first, Number(to)), to: Math.max(first, Number(to)) };
  return { type: "range", from: first, to: first };
}

function toCount(word: string | undefined, text: string): number {
  if (word !== undefined) return numberOf(word);
  return /\bline\b/i.test(text) && !/\blines\b/i.test(text) ? 1 : A_FEW_LINES;
}

const SHOWN_LINES = 400;

export function* planRead({ path: named, lookUp, lines }: ReadSlots): Plan {
  const path = lookUp ? yield* lookUpDocument(named) : named;
  if (path === undefined) return `There is no ${named.toUpperCase()} file in this project.`;
  if (lines?.type === "last") return yield* planLast(path, lines.count);
  const fact = yield* call({ ...readCall(path, partOf(lines)), mayFail: true });
  if (fact.failed && isFolder(fact)) return yield* planFolder(path);
  if (fact.failed) return unreadable(path, fact);
  return describeText(path, parseFileText(fact.text));
}

function partOf(lines: LineRange | undefined) {
  if (lines === undefined) return { limit: SHOWN_LINES };
  if (lines.type !== "range") return { limit: lines.count };
  return { offset: lines.from, limit: lines.to === undefined ? SHOWN_LINES : lines.to - lines.from + 1 };
}

function* planLast(path: string, most: number): Plan {
  // The first line is asked for only because the answer tells how many there are.
  const fact = yield* call({ ...readCall(path, { limit: 1 }), mayFail: true });
  if (fact.failed) return unreadable(path, fact);
  const head = parseFileText(fact.text);
  if (head.notText !== undefined || head.lines.length === 0) return describeText(path, head);
  if (head.totalLines === undefined)
    return `${code(path)} is too large for its number of lines to be known, so its end cannot be shown. Try: run ${code(`tail -n ${most} ${path}`)}`;
  const offset = Math.max(1, head.totalLines - most + 1);
  return describeText(path, parseFileText((yield* call(readCall(path, { offset, limit: most }))).text));
}

export function describeText(path: string, text: FileText): string {
  if (text.notText !== undefined) return `${code(path)} is not shown here, it is not text: ${text.notText}`;
  const { lines, totalLines } = text;
  const first = lines[0]?.line;
  const last = lines.at(-1)?.line;
  if (first === undefined || last === undefined) return `${code(path)} is empty.`;
  const range = first === last ? `line ${first}` : `lines ${first}-${last}`;
  const all = totalLines === undefined ? "a large file" : totalLines;
  const label =
    first === 1 && last === totalLines
      ? `${code(path)} (${count(totalLines, "line")}):`
      : `${code(path)}, ${range} of ${all}:`;
  const cut = text.linesCut ? "Some lines are longer than what is shown." : undefined;
  return paragraphs(label, fenced(lines.map((line) => line.text).join("\n")), cut);
}

function isFolder({ text }: ToolFact): boolean {
  return /\bis a (?:folder|directory)\b/i.test(text);
}

function* planFolder(path: string): Plan {
  const listing = parseFolderListing((yield* call(listCall({ path }))).text);
  return paragraphs(
    `${code(path)} is a folder${listing.text === "" ? ", and it is empty." : ":"}`,
    listing.text === "" ? undefined : fenced(listing.text),
  );
}

export function unreadable(path: string, fact: ToolFact): string {
  return paragraphs(`${code(path)} could not be read:`, fenced(fact.text.trim()));
}

export const readIntent: Intent<ReadSlots> = { name: "read", parse: parseRead, plan: planRead };
