/** The parts of one file by line: functions, classes, exports, headings. */
import type { Intent } from "../intent.js";
import phrases from "../phrases/outline.txt";
import { PhraseBook } from "../phrases.js";
import { planOutline } from "../plans/outline.js";
import type { RequestText } from "../request-text.js";
import { namedFile } from "./read.js";

export type OutlineFilter = "all" | "functions" | "classes" | "types" | "exports" | "imports" | "headings";

export interface OutlineSlots {
  readonly path: string;
  readonly lookUp?: true;
  readonly filter: OutlineFilter;
}

const PHRASES = new PhraseBook(phrases);

export function parseOutline(request: RequestText): OutlineSlots | undefined {
  for (const { slots } of PHRASES.matches(request.text)) {
    const file = slots.file === undefined ? undefined : namedFile(slots.file, request);
    if (file !== undefined) return { ...file, filter: toFilter(slots.part) };
  }
  return undefined;
}

function toFilter(part: string | undefined): OutlineFilter {
  if (part === undefined || /^(?:symbol|defin|declar)/i.test(part)) return "all";
  if (/^export/i.test(part)) return "exports";
  if (/^import/i.test(part)) return "imports";
  if (/^(?:function|method)/i.test(part)) return "functions";
  if (/^class/i.test(part)) return "classes";
  if (/^(?:type|interface)/i.test(part)) return "types";
  return "headings";
}

export const outlineIntent: Intent<OutlineSlots> = { name: "outline", parse: parseOutline, plan: planOutline };
