/** The parts of one file by line: functions, classes, exports, headings. */

import { readCall } from "../calls.js";
import type { Intent } from "../intent.js";
import { lookUpDocument } from "../look-up.js";
import { outlineParts, type Part } from "../outline-rules.js";
import { parseFileText } from "../outputs/file-text.js";
import phrases from "../phrases/outline.txt";
import { PhraseBook } from "../phrases.js";
import { call, type Plan } from "../plan.js";
import type { RequestText } from "../request-text.js";
import { code, count, fenced, paragraphs } from "../wording.js";
import { namedFile, unreadable } from "./read.js";

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

const SHOWN_PARTS = 200;

const NOUNS: Readonly<Record<OutlineFilter, readonly [one: string, many: string]>> = {
  all: ["part", "parts"],
  functions: ["function", "functions"],
  classes: ["class", "classes"],
  types: ["type", "types"],
  exports: ["export", "exports"],
  imports: ["import", "imports"],
  headings: ["heading", "headings"],
};

export function* planOutline({ path: named, lookUp, filter }: OutlineSlots): Plan {
  const path = lookUp ? yield* lookUpDocument(named) : named;
  if (path === undefined) return `There is no ${named.toUpperCase()} file in this project.`;
  const fact = yield* call({ ...readCall(path), mayFail: true });
  if (fact.failed) return unreadable(path, fact);
  const text = parseFileText(fact.text);
  if (text.notText !== undefined) return `${code(path)} has no outline, it is not text: ${text.notText}`;
  const length = `${code(path)} has ${text.totalLines === undefined ? "an unknown number of lines" : count(text.totalLines, "line")}`;
  const parts = outlineParts(path, text.lines);
  if (parts === undefined) return `${length}. There are no outline patterns for this kind of file.`;
  const wanted = parts.filter((part) => passes(part, filter));
  const [one, many] = NOUNS[filter];
  const seen =
    text.lines.length === (text.totalLines ?? -1)
      ? undefined
      : `Only lines 1-${text.lines.at(-1)?.line ?? 0} were looked at: the file is longer than one reading.`;
  if (wanted.length === 0) return paragraphs(`${length} and no ${many} that the patterns recognise.`, seen);
  return paragraphs(
    `${length}; ${count(wanted.length, one, many)} found by patterns, not by a parser:`,
    fenced(render(wanted.slice(0, SHOWN_PARTS))),
    wanted.length > SHOWN_PARTS ? `${count(wanted.length - SHOWN_PARTS, "more part")} not shown.` : undefined,
    seen,
  );
}

function passes(part: Part, filter: OutlineFilter): boolean {
  switch (filter) {
    case "all":
      return part.kind !== "import";
    case "functions":
      return part.kind === "function";
    case "classes":
      return part.kind === "class";
    case "types":
      return part.kind === "type";
    case "exports":
      return part.exported || part.kind === "export";
    case "imports":
      return part.kind === "import";
    case "headings":
      return part.kind === "heading";
  }
}

function render(parts: readonly Part[]): string {
  const width = String(parts.at(-1)?.line ?? 0).length;
  return parts.map((part) => `${String(part.line).padStart(width)}  ${"  ".repeat(part.depth)}${part.text}`).join("\n");
}

export const outlineIntent: Intent<OutlineSlots> = { name: "outline", parse: parseOutline, plan: planOutline };
