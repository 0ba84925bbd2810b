/** Carries out a search and words its answer. */
import { groupDigits } from "../../../base/group-digits.js";
import { escapeRegex, grepCall } from "../calls.js";
import { definitionLines, definitionPattern } from "../definitions.js";
import type { SearchGoal, SearchSlots } from "../intents/search.js";
import { type MatchedFile, type MatchList, parseMatches, parsePaths } from "../outputs/search-output.js";
import { call, type Plan } from "../plan.js";
import { describeScope, looksLikeFile } from "../scope.js";
import { bulleted, code, count, enumerate, fenced, mostSentence, numbers, paragraphs, ranked } from "../wording.js";
import { countMatches } from "./count-matches.js";

const MOST_FILES = 2000;
const MOST_LINES = 200;
const SHOWN_FILES = 30;
const SHOWN_LINES = 60;

const NOT_SEARCHED = "Binary and ignored files were not searched.";

const PLANS: Readonly<Record<SearchGoal, (slots: SearchSlots) => Plan>> = {
  most: planCounts,
  "per-file": planCounts,
  count: planCounts,
  files: planFiles,
  lines: planLines,
  exists: planLines,
  definition: planDefinition,
};

export function planSearch(slots: SearchSlots): Plan {
  return PLANS[slots.goal](slots);
}

/* ---- how often, and where most ---- */

function* planCounts(slots: SearchSlots): Plan {
  const { goal, scope, regex } = slots;
  const counting = { pattern: patternOf(slots), scope, options: caseOf(slots), portable: regex !== true };
  const { files, cut, unit } = yield* countMatches(counting);
  if (files.length === 0) return nothing(slots);
  // "Find every …" also wants to see them.
  const lines = goal === "count" ? undefined : parseMatches((yield* call(linesCall(slots))).text);
  const rows = ranked(files.map((file) => [file.path, file.count]));
  const total = files.reduce((sum, file) => sum + file.count, 0);
  const atLeast = cut === undefined ? "" : "at least ";
  const inFiles =
    files.length === 1 && cut === undefined
      ? `all in ${code(rows[0]?.[0] ?? "")}`
      : `in ${atLeast}${count(files.length, "file")}`;
  const isFile = isTheFile(slots, files);
  const most = mostSentence(rows, unit, cut && ", among the files that were listed");
  const found = `${describeTerms(slots)}: ${atLeast}${count(total, unit)} in ${describeScope(scope)}`;
  const listed = `${groupDigits(files.length)}${cut?.total === undefined ? "" : ` of ${groupDigits(cut.total)}`}`;
  return paragraphs(
    isFile ? `${found}.` : `${goal === "most" ? `${most} ` : ""}${found}, ${inFiles}.`,
    files.length > 1 ? numbers(rows, SHOWN_FILES) : undefined,
    lines && describeLines(lines, "titled"),
    cut &&
      `This is partial: the search listed the first ${listed} files by path. Ask for one folder at a time to get exact numbers.`,
    isFile ? undefined : NOT_SEARCHED,
  );
}

/** The search was for one file, and that is where it was found. */
function isTheFile({ scope }: SearchSlots, files: readonly { readonly path: string }[]): boolean {
  return files.length === 1 && files[0]?.path === scope.path;
}

/* ---- which files ---- */

function* planFiles(slots: SearchSlots): Plan {
  const options = { mode: "files", ...caseOf(slots), limit: MOST_FILES };
  const { paths, cut } = parsePaths((yield* call(grepCall(patternOf(slots), slots.scope, options))).text);
  if (paths.length === 0) return nothing(slots);
  const total = cut?.total ?? paths.length;
  const atLeast = cut !== undefined && cut.total === undefined ? "At least " : "";
  return paragraphs(
    `${atLeast}${count(total, "file")} in ${describeScope(slots.scope)} ${total === 1 ? "contains" : "contain"} ${describeTerms(slots)}:`,
    bulleted(paths, 100),
    cut && `The search listed the first ${groupDigits(paths.length)} of them.`,
    NOT_SEARCHED,
  );
}

/* ---- the lines ---- */

function* planLines(slots: SearchSlots): Plan {
  const matches = parseMatches((yield* call(linesCall(slots))).text);
  if (matches.files.length === 0) return nothing(slots);
  const isFile = isTheFile(slots, matches.files);
  const totals = isFile ? describeTotals(matches).replace(/ in 1 file$/, " in") : `${describeTotals(matches)} of`;
  const yes = slots.goal === "exists" ? "Yes. " : "";
  return paragraphs(
    `${yes}${describeTerms(slots)}: ${totals} ${describeScope(slots.scope)}.`,
    describeLines(matches),
    isFile ? undefined : NOT_SEARCHED,
  );
}

function shownLines({ files }: MatchList): number {
  return files.reduce((sum, file) => sum + file.lines.length, 0);
}

function describeTotals(matches: MatchList): string {
  const { files, cut } = matches;
  const shown = shownLines(matches);
  const atLeast = cut !== undefined && cut.total === undefined ? "at least " : "";
  const total = count(cut?.total ?? shown, "matching line");
  return `${atLeast}${total} in ${atLeast}${count(cut?.totalFiles ?? files.length, "file")}`;
}

/** With a title if something else was listed before, or if some lines are left out. */
function describeLines(matches: MatchList, style: "titled" | "plain" = "plain"): string {
  const all = shownLines(matches);
  const total = matches.cut === undefined ? all : matches.cut.total;
  const shown = Math.min(all, SHOWN_LINES);
  const of = total === undefined ? "" : ` of ${groupDigits(total)}`;
  const title = total === shown ? "The lines:" : `The lines (first ${shown}${of}, by path):`;
  const isTitled = style === "titled" || total !== shown;
  return paragraphs(isTitled ? title : undefined, fenced(lineRows(matches.files)));
}

function lineRows(files: readonly MatchedFile[]): string {
  let left = SHOWN_LINES;
  const blocks = files.map(({ path, lines }) => {
    const shown = lines.slice(0, left);
    left -= shown.length;
    return shown.length === 0 ? "" : [path, ...shown.map(({ line, text }) => `  ${line}: ${text.trim()}`)].join("\n");
  });
  return blocks.filter((block) => block !== "").join("\n\n");
}

/* ---- where a name is defined ---- */

function* planDefinition(slots: SearchSlots): Plan {
  const name = slots.terms[0] ?? "";
  const options = { mode: "content", limit: MOST_LINES };
  const found = parseMatches((yield* call(grepCall(definitionPattern(name), slots.scope, options))).text);
  const files = definitionLines(found.files);
  const places = files.flatMap((file) => file.lines.map(({ line }) => code(`${file.path}:${line}`)));
  if (places.length > 0) {
    const one = `${code(name)} is defined at ${places[0]}.`;
    const many = `${count(places.length, "line")} look like a definition of ${code(name)}.`;
    return paragraphs(
      places.length === 1 ? one : many,
      describeLines({ files }),
      found.cut && "The search was cut, so there may be more.",
      "Found by patterns for common languages, not by a parser.",
    );
  }
  const mentions = parseMatches((yield* call(linesCall(slots))).text);
  if (mentions.files.length === 0) return nothing(slots);
  return paragraphs(
    `No line in ${describeScope(slots.scope)} looks like a definition of ${code(name)}, but it is mentioned: ${describeTotals(mentions)}.`,
    describeLines(mentions),
    NOT_SEARCHED,
  );
}

/* ---- shared ---- */

function linesCall(slots: SearchSlots) {
  const acrossLines = slots.terms.some((term) => term.includes("\n"));
  const options = { mode: "content", ...caseOf(slots), ...(acrossLines && { multiline: true }), limit: MOST_LINES };
  return grepCall(patternOf(slots), slots.scope, options);
}

function patternOf({ terms, regex, wholeWord }: SearchSlots): string {
  const patterns = terms.map((term) => {
    const pattern = regex ? term : escapeRegex(term);
    if (wholeWord !== true) return pattern;
    return `${/^\w/.test(term) ? "\\b" : ""}(?:${pattern})${/\w$/.test(term) ? "\\b" : ""}`;
  });
  return patterns.join("|");
}

function caseOf({ ignoreCase }: SearchSlots) {
  return ignoreCase ? { ignore_case: true } : {};
}

function describeTerms({ terms, regex, ignoreCase, wholeWord }: SearchSlots): string {
  const shown = terms.map((term) => code(term.replaceAll("\n", "⏎")));
  const notes = [
    ...(regex ? ["as a regular expression"] : []),
    ...(ignoreCase ? ["ignoring case"] : []),
    ...(wholeWord ? ["as a whole word"] : []),
  ];
  return `${enumerate(shown, "or")}${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`;
}

function nothing(slots: SearchSlots): string {
  const no = slots.goal === "exists" ? "No. " : "";
  const isFile = looksLikeFile(slots.scope.path ?? "");
  return `${no}${describeTerms(slots)} was not found in ${describeScope(slots.scope)}.${isFile ? "" : ` ${NOT_SEARCHED}`}`;
}
