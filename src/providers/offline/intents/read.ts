/** Showing a file or some of its lines. */
import type { Intent } from "../intent.js";
import { numberOf } from "../number-words.js";
import phrases from "../phrases/read.txt";
import { type Phrase, PhraseBook } from "../phrases.js";
import { planRead } from "../plans/read.js";
import type { RequestText } from "../request-text.js";
import { cleanPath, looksLikeFile, looksLikePath } from "../scope.js";

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

export const readIntent: Intent<ReadSlots> = { name: "read", parse: parseRead, plan: planRead };
