/** How long something is: lines, words or characters of a file, lines of all files of a kind. */

import { grepCall, readCall } from "../calls.js";
import { findFileKind, KIND_WORDS } from "../file-kinds.js";
import type { Intent } from "../intent.js";
import { lookUpDocument } from "../look-up.js";
import { joinedText, parseFileText } from "../outputs/file-text.js";
import { type FileCount, parseCounts } from "../outputs/search-output.js";
import phrases from "../phrases/measure.txt";
import { PhraseBook } from "../phrases.js";
import { call, type Plan } from "../plan.js";
import type { RequestText } from "../request-text.js";
import { describeScope, parseScope, type Scope, WHOLE_PROJECT } from "../scope.js";
import { shellWord } from "../shell-word.js";
import { code, count, enumerate, fenced, paragraphs } from "../wording.js";
import { namedFile, unreadable } from "./read.js";

export type Unit = "lines" | "words" | "characters";

export interface MeasureSlots {
  readonly unit: Unit;
  /** One file, or … */
  readonly file?: string;
  readonly lookUp?: true;
  /** … all files of a place, for lines only. */
  readonly scope?: Scope;
  /** Asked for the file that has most of them. */
  readonly most?: true;
}

const PHRASES = new PhraseBook(phrases, { macros: { KIND_WORDS } });
const FLAGS: Readonly<Record<string, Unit>> = { l: "lines", w: "words", c: "characters", m: "characters" };

export function parseMeasure(request: RequestText): MeasureSlots | undefined {
  for (const { meaning, slots } of PHRASES.matches(request.text)) {
    const scope = meaning === "longest" ? parseScope(slots.place ?? "", request) : undefined;
    if (scope !== undefined) return { unit: "lines", scope, most: true };
    const found = meaning === "longest" ? undefined : build(slots, request);
    if (found !== undefined) return found;
  }
  return undefined;
}

function build(groups: Readonly<Record<string, string | undefined>>, request: RequestText): MeasureSlots | undefined {
  const unit = toUnit(groups);
  const place = groups.place?.replace(/^(?:the |this |file )+/i, "").replace(/ file$/i, "") ?? "";
  const file = place === "" ? undefined : namedFile(place, request);
  if (file !== undefined) return { unit, file: file.path, ...(file.lookUp && { lookUp: true as const }) };
  if (
    unit !== "lines" ||
    /^(?:how|what is the length|what's the length|the length|length)\b(?! many)/i.test(request.text)
  )
    return undefined;
  const scope = parseScope(groups.place ?? "", request);
  if (scope === undefined || groups.kind === undefined) return scope === undefined ? undefined : { unit, scope };
  const kind = findFileKind(groups.kind);
  return kind === undefined || scope.kind !== undefined ? undefined : { unit, scope: { ...scope, kind } };
}

function toUnit({ unit, flag }: Readonly<Record<string, string | undefined>>): Unit {
  if (flag !== undefined) return FLAGS[flag.toLowerCase()] ?? "lines";
  if (unit === undefined || /^line/i.test(unit)) return "lines";
  return /^word/i.test(unit) ? "words" : "characters";
}

const MOST_FILES = 2000;
const SHOWN_FILES = 15;
/** A search of one file gives up counting here. */
const MOST_IN_ONE_FILE = 20_000;
/** Every line has one beginning. */
const LINE = "^";

export function* planMeasure({ unit, file, lookUp, scope, most }: MeasureSlots): Plan {
  if (file === undefined) return yield* planScope(scope ?? WHOLE_PROJECT, most === true ? "longest" : "total");
  const path = lookUp ? yield* lookUpDocument(file) : file;
  if (path === undefined) return `There is no ${file.toUpperCase()} file in this project.`;
  return unit === "lines" ? yield* planLines(path) : yield* planText(path, unit);
}

function* planLines(path: string): Plan {
  // The first line is asked for only because the answer tells how many there are.
  const fact = yield* call({ ...readCall(path, { limit: 1 }), mayFail: true });
  if (fact.failed) return unreadable(path, fact);
  const text = parseFileText(fact.text);
  if (text.notText !== undefined) return `${code(path)} has no lines, it is not text: ${text.notText}`;
  // A notebook is shown rendered, and a very large file is not counted: there a search tells.
  if (text.totalLines !== undefined && !path.endsWith(".ipynb"))
    return `${code(path)} has ${count(text.totalLines, "line")}.`;
  const { files } = parseCounts((yield* call(grepCall(LINE, { path }, { mode: "count" }))).text);
  const number = files[0]?.count ?? 0;
  return number < MOST_IN_ONE_FILE ? `${code(path)} has ${count(number, "line")}.` : tooLong(path, "lines");
}

const PIECES: Readonly<Record<Exclude<Unit, "lines">, { readonly pattern: RegExp; readonly note: string }>> = {
  words: { pattern: /\S+/g, note: "pieces of text between spaces" },
  characters: { pattern: /[\s\S]/gu, note: "line ends included, except after the last line" },
};

function* planText(path: string, unit: Exclude<Unit, "lines">): Plan {
  const fact = yield* call({ ...readCall(path), mayFail: true });
  if (fact.failed) return unreadable(path, fact);
  const text = parseFileText(fact.text);
  if (text.notText !== undefined) return `${code(path)} has no ${unit}, it is not text: ${text.notText}`;
  if (!text.whole) return tooLong(path, unit);
  const { pattern, note } = PIECES[unit];
  const number = joinedText(text).match(pattern)?.length ?? 0;
  return `${code(path)} has ${count(number, unit.slice(0, -1))} (${note}).`;
}

const WC_FLAGS: Readonly<Record<Unit, string>> = { lines: "-l", words: "-w", characters: "-m" };

function tooLong(path: string, unit: Unit): string {
  return `${code(path)} is too long for its ${unit} to be counted by reading. For the exact number: run ${code(`wc ${WC_FLAGS[unit]} ${shellWord(path)}`)}`;
}

function* planScope(scope: Scope, goal: "total" | "longest"): Plan {
  const fact = yield* call(grepCall(LINE, scope, { mode: "count", limit: MOST_FILES }));
  const { files, cut } = parseCounts(fact.text);
  if (files.length === 0) return `There are no text files with lines in ${describeScope(scope)}.`;
  const ranked = [...files].sort((a, b) => b.count - a.count || (a.path < b.path ? -1 : 1));
  const total = ranked.reduce((sum, file) => sum + file.count, 0);
  const atLeast = cut === undefined ? "" : "at least ";
  const sum = `${describeScope(scope)} has ${atLeast}${count(total, "line")} in ${atLeast}${count(files.length, "text file")}, blank lines and comments included.`;
  return paragraphs(
    goal === "longest" ? `${longest(ranked)} ${capital(sum)}` : capital(sum),
    fenced(
      ranked
        .slice(0, SHOWN_FILES)
        .map((file) => `${String(file.count).padStart(7)}  ${file.path}`)
        .join("\n"),
    ),
    ranked.length > SHOWN_FILES ? `These are the ${SHOWN_FILES} longest.` : undefined,
    cut === undefined
      ? undefined
      : `This is partial: the search listed the first ${files.length} files by path. Ask for one folder at a time.`,
    "Empty files, binary files and what ignore files exclude are not counted.",
  );
}

function longest(ranked: readonly FileCount[]): string {
  const highest = ranked[0]?.count ?? 0;
  const winners = ranked.filter((file) => file.count === highest).map((file) => code(file.path));
  if (winners.length === 1) return `${winners[0]} has most: ${count(highest, "line")}.`;
  return `A tie with ${count(highest, "line")} each: ${enumerate(winners.slice(0, 8))}${winners.length > 8 ? " and others" : ""}.`;
}

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

export const measureIntent: Intent<MeasureSlots> = { name: "measure", parse: parseMeasure, plan: planMeasure };
