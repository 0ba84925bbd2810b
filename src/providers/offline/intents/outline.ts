/** The parts of one file by line: functions, classes, exports, headings. */
import type { Intent } from "../intent.js";
import { planOutline } from "../plans/outline.js";
import type { RequestText } from "../request-text.js";
import { namedFile } from "./read.js";

export type OutlineFilter = "all" | "functions" | "classes" | "types" | "exports" | "imports" | "headings";

export interface OutlineSlots {
  readonly path: string;
  readonly lookUp?: true;
  readonly filter: OutlineFilter;
}

const PART =
  "(?<part>functions?|methods?|functions and methods|class(?:es)?|types?|interfaces?|types and interfaces|exports?|exported (?:names|symbols|functions)|imports?|headings?|sections?|chapters?|titles?|symbols?|definitions?|declarations?)";
const LIST =
  "(?:(?:list|show|show me|give me|print|find|get|tell me|what is|what's|what are|which are|make|create|name)(?: me)? )?(?:(?:all|every|an?|the|of) )*";
const FILE = "(?:the )?(?:file )?(?<file>\\S+?)";

function rule(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`, "i");
}

const FORMS: readonly RegExp[] = [
  rule(`outline(?: of| for)? ${FILE}`),
  rule(`${LIST}(?:outline|table of contents|toc|structure|skeleton|overview|summary|symbols?) (?:of|for|in) ${FILE}`),
  rule(`(?:summari[sz]e|describe|give me an overview of|sketch|sum up|give me the gist of) ${FILE}`),
  rule(`${LIST}${PART} (?:of|in|from|inside|defined in|declared in|exported by|exported from|imported by) ${FILE}`),
  rule(
    `(?:what|which) ${PART} (?:are|is|do we have|exist)(?: there)?(?: defined| declared| exported)? (?:in|by|from|inside) ${FILE}`,
  ),
  rule(`(?:how many|count(?: the)?) ${PART}(?: (?:are|is)(?: there)?)? (?:in|inside|of) ${FILE}`),
  rule(
    `(?:what|which|how many) ${PART} (?:does|do|has) ${FILE}(?: (?:have|define|declare|export|contain|import|provide))?`,
  ),
  rule(`what (?:does|do) ${FILE} (?<part>export|import|define|declare)`),
];

export function parseOutline(request: RequestText): OutlineSlots | undefined {
  for (const pattern of FORMS) {
    const groups = pattern.exec(request.text)?.groups;
    const file = groups?.file === undefined ? undefined : namedFile(groups.file, request);
    if (file !== undefined) return { ...file, filter: toFilter(groups?.part) };
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

const NEEDS =
  /\b(?:outline|table|toc|structure|skeleton|overview|summary|symbols?|summari[sz]e|describe|sketch|sum|gist|functions?|methods?|class(?:es)?|types?|interfaces?|exports?|exported|imports?|headings?|sections?|chapters?|titles?|definitions?|declarations?|define|declare)\b/i;

export const outlineIntent: Intent<OutlineSlots> = {
  name: "outline",
  needs: NEEDS,
  parse: parseOutline,
  plan: planOutline,
};
