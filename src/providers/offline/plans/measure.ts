import { grepCall } from "../calls.js";
import type { MeasureSlots, Unit } from "../intents/measure.js";
import { lookUpDocument } from "../look-up.js";
import { type FileCount, parseCounts } from "../outputs/search-output.js";
import { call, type Plan } from "../plan.js";
import { describeScope, type Scope, WHOLE_PROJECT } from "../scope.js";
import { code, count, enumerate, fenced, paragraphs } from "../wording.js";

const MOST_FILES = 2000;
const SHOWN_FILES = 15;
/** A search of one file gives up counting here. */
const MOST_IN_ONE_FILE = 20_000;

/** Counting matches counts anything: line beginnings, words, characters. */
const COUNTERS: Readonly<Record<Unit, { readonly pattern: string; readonly multiline?: true }>> = {
  lines: { pattern: "^" },
  words: { pattern: "\\S+", multiline: true },
  characters: { pattern: ".", multiline: true },
};

export function* planMeasure({ unit, file, lookUp, scope, most }: MeasureSlots): Plan {
  if (file !== undefined) return yield* planFile(unit, file, lookUp === true ? "look up" : "as named");
  return yield* planScope(scope ?? WHOLE_PROJECT, most === true ? "longest" : "total");
}

function* planFile(unit: Unit, named: string, how: "look up" | "as named"): Plan {
  const path = how === "look up" ? yield* lookUpDocument(named) : named;
  if (path === undefined) return `There is no ${named.toUpperCase()} file in this project.`;
  const { pattern, ...mode } = COUNTERS[unit];
  const { files } = parseCounts((yield* call(grepCall(pattern, { path }, { mode: "count", ...mode }))).text);
  const number = files[0]?.count ?? 0;
  const one = unit.slice(0, -1);
  if (number >= MOST_IN_ONE_FILE)
    return `${code(path)} has ${MOST_IN_ONE_FILE.toLocaleString("en-US")} ${unit} or more: the search stops counting there. For the exact number: run ${code(`wc -${unit === "lines" ? "l" : unit === "words" ? "w" : "m"} ${path}`)}`;
  const notes =
    unit === "words" ? " (pieces of text between spaces)" : unit === "characters" ? " (line ends included)" : "";
  return `${code(path)} has ${count(number, one)}${notes}.`;
}

function* planScope(scope: Scope, goal: "total" | "longest"): Plan {
  const fact = yield* call(grepCall(COUNTERS.lines.pattern, scope, { mode: "count", limit: MOST_FILES }));
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
