/** How long something is: lines, words or characters of a file, lines of all files of a kind. */
import { readableShellWord } from "../../../base/shell-word.js";
import { grepCall } from "../calls.js";
import { findFileKind } from "../file-kinds.js";
import { namedFile, readText } from "../files.js";
import { phraseIntent } from "../intent.js";
import { joinedText } from "../outputs/file-text.js";
import { parseCounts } from "../outputs/search-output.js";
import phrases from "../phrases/measure.txt";
import type { Phrase } from "../phrases.js";
import { call, type Plan } from "../plan.js";
import type { RequestText } from "../request-text.js";
import { describeScope, parseScope, type Scope, WHOLE_PROJECT } from "../scope.js";
import { code, count, mostSentence, numbers, paragraphs, ranked } from "../wording.js";

interface MeasureSlots {
  readonly unit: keyof typeof UNITS;
  /** One file, or … */
  readonly file?: string;
  readonly lookUp?: true;
  /** … all files of a place, for lines only. */
  readonly scope?: Scope;
  /** The request asks for the file that has most of them. */
  readonly most?: true;
}

const UNITS = {
  lines: { asked: /^l/i, flag: "-l", pattern: /^/gm, note: "" },
  words: { asked: /^w/i, flag: "-w", pattern: /\S+/g, note: " (pieces of text between spaces)" },
  characters: {
    asked: /^[cm]|^letter/i,
    flag: "-m",
    pattern: /[\s\S]/gu,
    note: " (line ends included, except after the last line)",
  },
};

function readSlots({ meaning, slots }: Phrase, request: RequestText): MeasureSlots | undefined {
  const scope = parseScope(slots.place ?? "", request);
  if (meaning === "longest") return scope && { unit: "lines", scope, most: true };
  const asked = slots.flag ?? slots.unit ?? "lines";
  const unit = (["characters", "words", "lines"] as const).find((each) => UNITS[each].asked.test(asked)) ?? "lines";
  const file = namedFile(slots.place?.replace(/^(?:the |this |file )+/i, "").replace(/ file$/i, ""), request);
  if (file !== undefined) return { unit, file: file.path, ...(file.lookUp && { lookUp: true }) };
  // "how long is the project" does not ask for lines.
  if (unit !== "lines" || scope === undefined || meaning === "length") return undefined;
  if (slots.kind === undefined) return { unit, scope };
  const kind = findFileKind(slots.kind);
  return kind === undefined || scope.kind !== undefined ? undefined : { unit, scope: { ...scope, kind } };
}

const MOST_FILES = 2000;
const SHOWN_FILES = 15;
/** A search of one file stops counting here. */
const MOST_IN_ONE_FILE = 20_000;
/** Every line has one beginning. */
const LINE = "^";

function* planMeasure({ unit, file, lookUp, scope = WHOLE_PROJECT, most }: MeasureSlots): Plan {
  if (file === undefined) return yield* planScope(scope, most === true ? "longest" : "total");
  // Reading the first line also returns the number of lines.
  const part = unit === "lines" ? { limit: 1 } : {};
  const text = yield* readText({ path: file, ...(lookUp && { lookUp }) }, part);
  if (typeof text === "string") return text;
  const { path, totalLines, whole } = text;
  let number = whole ? (joinedText(text).match(UNITS[unit].pattern)?.length ?? 0) : undefined;
  if (unit === "lines") number = totalLines;
  // `read` renders notebooks and does not count very large files, so a search counts those.
  if (unit === "lines" && (totalLines === undefined || path.endsWith(".ipynb"))) {
    const found = parseCounts((yield* call(grepCall(LINE, { path }, { mode: "count" }))).text).files[0]?.count ?? 0;
    number = found < MOST_IN_ONE_FILE ? found : undefined;
  }
  if (number === undefined)
    return `${code(path)} is too long for its ${unit} to be counted by reading. For the exact number: run ${code(`wc ${UNITS[unit].flag} ${readableShellWord(path)}`)}`;
  return `${code(path)} has ${count(number, unit.slice(0, -1))}${UNITS[unit].note}.`;
}

function* planScope(scope: Scope, goal: "total" | "longest"): Plan {
  const fact = yield* call(grepCall(LINE, scope, { mode: "count", limit: MOST_FILES }));
  const { files, cut } = parseCounts(fact.text);
  if (files.length === 0) return `There are no text files with lines in ${describeScope(scope)}.`;
  const rows = ranked(files.map((each) => [each.path, each.count]));
  const total = files.reduce((sum, each) => sum + each.count, 0);
  const atLeast = cut === undefined ? "" : "at least ";
  const place = describeScope(scope);
  const sum = `${place.charAt(0).toUpperCase()}${place.slice(1)} has ${atLeast}${count(total, "line")} in ${atLeast}${count(files.length, "text file")}, blank lines and comments included.`;
  return paragraphs(
    goal === "longest" ? `${mostSentence(rows, "line")} ${sum}` : sum,
    numbers(rows, SHOWN_FILES),
    cut && `This is partial: the search listed the first ${files.length} files by path. Ask for one folder at a time.`,
    "Empty, binary and ignored files are not counted.",
  );
}

export const matchMeasure = phraseIntent({ name: "measure", phrases, read: readSlots, plan: planMeasure });
