/** Showing a file or some of its lines. */
import type { Intent } from "../intent.js";
import { planRead } from "../plans/read.js";
import { MARK, type RequestText } from "../request-text.js";
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

const SHOW =
  "(?:show|show me|read|read me|print|display|open|view|cat|less|more|type|dump|output|see|look at|give me|get|what is|what's|let me see|take a look at|quote|contents? of|type out)(?: me)?";
const THE =
  "(?:(?:the|this|that|my|our|whole|entire|full|complete|contents? of|text of|file|source of|source code of|code of|code in|inside of) )*";
const FILE = "(?<file>\\S+?)(?:'s)?(?: file)?(?: contents?)?";
const OF = "(?: (?:of|from|in|inside))? ";
const TO = "(?: ?(?:-|–|—|to|through|until|till|and|\\.\\.) ?)";
const NUMBERS = `(?:#?L?(?<from>\\d+)(?:${TO}#?L?(?<to>\\d+))?)`;
const N =
  "(?<n>\\d+|a|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|fifty|hundred|few|couple of)";

function rule(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`, "i");
}

const RANGE_FORMS: readonly RegExp[] = [
  rule(`(?:${SHOW} )?${THE}lines? (?:number )?${NUMBERS}${OF}${THE}${FILE}`),
  rule(`(?:what(?:'s| is) (?:on|at|in) )${THE}lines? (?:number )?${NUMBERS}${OF}${THE}${FILE}`),
  rule(`(?:${SHOW} )?${THE}${FILE},?(?: (?:from|at|on|between))?(?: the)? lines? ${NUMBERS}(?: only)?`),
  rule(`(?:${SHOW} )?${THE}${FILE}:${NUMBERS}`),
  rule(`(?:${SHOW} )?${THE}${FILE} \\(?lines? ${NUMBERS}\\)?`),
  rule(
    `(?:${SHOW} )?${THE}${FILE} from (?:line )?(?<from>\\d+)(?: (?:to|until|through) (?:line )?(?<to>\\d+)| on(?:wards?)?| to the end)?`,
  ),
];

const FIRST_FORMS: readonly RegExp[] = [
  rule(`(?:${SHOW} )?(?:the )?(?:first|top|initial|opening) ${N} lines?${OF}${THE}${FILE}`),
  rule(`head(?: -n?)? ?(?<n>\\d+) ${FILE}`),
  rule(`(?:${SHOW} )?(?:the )?(?:first|top|opening) line${OF}${THE}${FILE}`),
  rule(
    `(?:head|(?:${SHOW} )?(?:the )?(?:beginning|start|top|head)${OF}${THE}|(?:${SHOW} )?(?:the )?first (?:few )?lines${OF}${THE}) ?${FILE}`,
  ),
];

const LAST_FORMS: readonly RegExp[] = [
  rule(`(?:${SHOW} )?(?:the )?(?:last|final|bottom) ${N} lines?${OF}${THE}${FILE}`),
  rule(`tail(?: -n?)? ?(?<n>\\d+) ${FILE}`),
  rule(`(?:${SHOW} )?(?:the )?(?:last|final|bottom) line${OF}${THE}${FILE}`),
  rule(
    `(?:tail|(?:${SHOW} )?(?:the )?(?:end|bottom|tail)${OF}${THE}|(?:${SHOW} )?(?:the )?last (?:few )?lines${OF}${THE}) ?${FILE}`,
  ),
];

const WHOLE_FORMS: readonly RegExp[] = [
  rule(`${SHOW} (?:in )?${THE}${FILE}(?: (?:say|says|contain|contains|look like|in full|completely))?`),
  rule(
    `what (?:does|do|is)(?: in| inside)? ${THE}${FILE}(?: (?:say|contain|contains|look like|have in it|read|hold))?`,
  ),
  rule(`what(?:'s|s) (?:in|inside) ${THE}${FILE}`),
  rule(`(?:the )?${FILE}`),
];

const NUMBER_WORDS: Readonly<Record<string, number>> = {
  a: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  twelve: 12,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  fifty: 50,
  hundred: 100,
  few: 10,
  "couple of": 2,
};
const A_FEW_LINES = 10;

export function parseRead(request: RequestText): ReadSlots | undefined {
  return (
    firstMatch(RANGE_FORMS, request, (groups) => toRange(groups, request.text)) ??
    firstMatch(FIRST_FORMS, request, ({ n }) => ({ type: "first", count: toCount(n, request.text) })) ??
    firstMatch(LAST_FORMS, request, ({ n }) => ({ type: "last", count: toCount(n, request.text) })) ??
    firstMatch(WHOLE_FORMS, request, () => undefined)
  );
}

type Groups = Readonly<Record<string, string | undefined>>;

function firstMatch(
  forms: readonly RegExp[],
  request: RequestText,
  lines: (groups: Groups) => LineRange | undefined,
): ReadSlots | undefined {
  for (const pattern of forms) {
    const groups = pattern.exec(request.text)?.groups;
    const named = /^what/i.test(request.text) ? namedFile : namedPath;
    const file = groups?.file === undefined ? undefined : named(groups.file, request);
    // A bare word is a file only when it cannot be a slash command or part of one.
    if (groups === undefined || file === undefined || /^\/\w+$/.test(request.text)) continue;
    const range = lines(groups);
    return { ...file, ...(range !== undefined && { lines: range }) };
  }
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

function toRange({ from, to }: Groups, text: string): LineRange {
  const first = Math.max(1, Number(from));
  if (to === undefined && /\bfrom (?:line )?\d+(?: on(?:wards?)?| to the end)?$/i.test(text))
    return { type: "range", from: first };
  if (to !== undefined) return { type: "range", from: Math.min(first, Number(to)), to: Math.max(first, Number(to)) };
  return { type: "range", from: first, to: first };
}

function toCount(word: string | undefined, text: string): number {
  if (word === undefined) return /\bline\b/i.test(text) && !/\blines\b/i.test(text) ? 1 : A_FEW_LINES;
  return Math.max(1, NUMBER_WORDS[word.toLowerCase()] ?? Number(word));
}

/** A path, something quoted, or a document known by its first name. */
const NEEDS = new RegExp(
  `[./${MARK}]|readme|licen[cs]e|changelog|contributing|[a-z]file|authors|notice|copying|codeowners|version`,
  "i",
);

export const readIntent: Intent<ReadSlots> = { name: "read", needs: NEEDS, parse: parseRead, plan: planRead };
