import { groupDigits } from "../../../base/group-digits.js";
import { escapeRegex, grepCall } from "../calls.js";
import { definitionLines, definitionPattern } from "../definitions.js";
import type { SearchSlots } from "../intents/search.js";
import {
  type Cut,
  type FileCount,
  type MatchedFile,
  type MatchList,
  parseMatches,
  parsePaths,
} from "../outputs/search-output.js";
import { call, type Plan, type Toolbox } from "../plan.js";
import { describeScope, looksLikeFile } from "../scope.js";
import { bulleted, code, count, enumerate, fenced, paragraphs } from "../wording.js";
import { type Counting, countMatches } from "./count-matches.js";

const MOST_FILES = 2000;
const MOST_LINES = 200;
const SHOWN_FILES = 30;
const SHOWN_LINES = 60;

const NOT_SEARCHED = "Binary files and what ignore files exclude were not searched.";

export function* planSearch(slots: SearchSlots, tools: Toolbox): Plan {
  switch (slots.goal) {
    case "most":
    case "per-file":
    case "count":
      return yield* planCounts(slots, tools);
    case "files":
      return yield* planFiles(slots);
    case "lines":
    case "exists":
      return yield* planLines(slots);
    case "definition":
      return yield* planDefinition(slots);
  }
}

/* ---- how often, and where most ---- */

function* planCounts(slots: SearchSlots, tools: Toolbox): Plan {
  const counting: Counting = {
    pattern: patternOf(slots),
    scope: slots.scope,
    ignoreCase: slots.ignoreCase ? "ignore case" : "exact case",
    portable: slots.regex ? "of the search" : "portable",
  };
  const { files, cut, unit } = yield* countMatches(counting, tools);
  if (files.length === 0) return nothing(slots);
  // "Find every …" also wants to see them.
  const lines = slots.goal === "count" ? undefined : parseMatches((yield* call(linesCall(slots))).text);
  const ranked = [...files].sort((a, b) => b.count - a.count || compare(a.path, b.path));
  return paragraphs(
    countSentence(slots, ranked, { cut, unit }),
    files.length > 1 ? countTable(ranked) : undefined,
    lines === undefined ? undefined : describeLines(lines, "titled"),
    cutSentence(cut, files.length),
    isTheFile(slots, files) ? undefined : NOT_SEARCHED,
  );
}

interface Counted {
  readonly cut: Cut | undefined;
  readonly unit: string;
}

function countSentence(slots: SearchSlots, ranked: readonly FileCount[], { cut, unit }: Counted): string {
  const total = ranked.reduce((sum, file) => sum + file.count, 0);
  const atLeast = cut === undefined ? "" : "at least ";
  const found = `${describeTerms(slots)}: ${atLeast}${count(total, unit)} in ${describeScope(slots.scope)}`;
  if (isTheFile(slots, ranked)) return `${found}.`;
  const only = ranked.length === 1 && cut === undefined ? `all in ${code(ranked[0]?.path ?? "")}` : undefined;
  const where = only ?? `in ${atLeast}${count(ranked.length, "file")}`;
  return `${slots.goal === "most" ? `${mostSentence(ranked, { cut, unit })} ` : ""}${found}, ${where}.`;
}

/** The search was for one file, and that is where it was found. */
function isTheFile({ scope }: SearchSlots, files: readonly { readonly path: string }[]): boolean {
  return files.length === 1 && files[0]?.path === scope.path;
}

function mostSentence(ranked: readonly FileCount[], { cut, unit }: Counted): string {
  const highest = ranked[0]?.count ?? 0;
  const winners = ranked.filter((file) => file.count === highest).map((file) => code(file.path));
  const among = cut === undefined ? "" : ", among the files that were listed";
  if (winners.length === 1) return `${winners[0]} has most: ${count(highest, unit)}${among}.`;
  const named =
    winners.length <= 8 ? enumerate(winners) : `${winners.slice(0, 8).join(", ")} and ${winners.length - 8} more`;
  return `A tie between ${count(winners.length, "file")} with ${count(highest, unit)} each${among}: ${named}.`;
}

function countTable(ranked: readonly FileCount[]): string {
  const shown = ranked.slice(0, SHOWN_FILES);
  const width = String(shown[0]?.count ?? 0).length;
  const rows = shown.map((file) => `${String(file.count).padStart(width)}  ${file.path}`);
  if (ranked.length > shown.length) rows.push(`… and ${count(ranked.length - shown.length, "more file")}`);
  return fenced(rows.join("\n"));
}

function cutSentence(cut: Cut | undefined, listed: number): string | undefined {
  if (cut === undefined) return undefined;
  const all = cut.total === undefined ? "" : ` of ${groupDigits(cut.total)}`;
  return `This is partial: the search listed the first ${groupDigits(listed)}${all} files by path. Ask for one folder at a time to get exact numbers.`;
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
    cut === undefined ? undefined : `The search listed the first ${groupDigits(paths.length)} of them.`,
    NOT_SEARCHED,
  );
}

/* ---- the lines ---- */

function* planLines(slots: SearchSlots): Plan {
  const matches = parseMatches((yield* call(linesCall(slots))).text);
  if (matches.files.length === 0) return nothing(slots);
  const inFile = isTheFile(slots, matches.files);
  const where = inFile ? ` in ${describeScope(slots.scope)}` : ` of ${describeScope(slots.scope)}`;
  const totals = inFile ? describeTotals(matches).replace(/ in 1 file$/, "") : describeTotals(matches);
  const yes = slots.goal === "exists" ? "Yes. " : "";
  return paragraphs(
    `${yes}${describeTerms(slots)}: ${totals}${where}.`,
    describeLines(matches),
    inFile ? undefined : NOT_SEARCHED,
  );
}

function describeTotals({ files, cut }: MatchList): string {
  const shown = files.reduce((sum, file) => sum + file.lines.length, 0);
  if (cut !== undefined && cut.total === undefined) return `more than ${count(shown, "matching line")}`;
  const inFiles = cut === undefined ? files.length : (cut.totalFiles ?? files.length);
  return `${count(cut?.total ?? shown, "matching line")} in ${count(inFiles, "file")}`;
}

/** Titled when something else was listed before, and whenever not all of them are shown. */
function describeLines(matches: MatchList, style: "titled" | "plain" = "plain"): string {
  const all = matches.files.reduce((sum, file) => sum + file.lines.length, 0);
  const total = matches.cut === undefined ? all : matches.cut.total;
  const shown = Math.min(all, SHOWN_LINES);
  const part = total === undefined ? `first ${shown}` : `first ${shown} of ${groupDigits(total)}`;
  const title = total === shown ? "The lines:" : `The lines (${part}, by path):`;
  const isTitled = style === "titled" || total !== shown;
  return paragraphs(isTitled ? title : undefined, fenced(lineRows(matches.files, SHOWN_LINES).join("\n")));
}

function lineRows(files: readonly MatchedFile[], most: number): string[] {
  const rows: string[] = [];
  let left = most;
  for (const file of files) {
    if (left <= 0) break;
    const lines = file.lines.slice(0, left);
    left -= lines.length;
    if (rows.length > 0) rows.push("");
    rows.push(file.path, ...lines.map(({ line, text }) => `  ${line}: ${text.trim()}`));
  }
  return rows;
}

/* ---- where a name is defined ---- */

function* planDefinition(slots: SearchSlots): Plan {
  const name = slots.terms[0] ?? "";
  const options = { mode: "content", limit: MOST_LINES };
  const found = parseMatches((yield* call(grepCall(definitionPattern(name), slots.scope, options))).text);
  const files = definitionLines(found.files);
  if (files.length > 0) {
    const places = files.flatMap((file) => file.lines.map(({ line }) => code(`${file.path}:${line}`)));
    const sentence =
      places.length === 1
        ? `${code(name)} is defined at ${places[0]}.`
        : `${count(places.length, "line")} look like a definition of ${code(name)}.`;
    return paragraphs(
      sentence,
      describeLines({ files }),
      found.cut === undefined ? undefined : "The search was cut, so there may be more.",
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
  const each = regex ? terms : terms.map(escapeRegex);
  if (wholeWord !== true) return each.join("|");
  return each
    .map((pattern, index) => {
      const term = terms[index] ?? "";
      return `${/^\w/.test(term) ? "\\b" : ""}(?:${pattern})${/\w$/.test(term) ? "\\b" : ""}`;
    })
    .join("|");
}

function caseOf({ ignoreCase }: SearchSlots) {
  return ignoreCase ? { ignore_case: true } : {};
}

function describeTerms({ terms, regex, ignoreCase, wholeWord }: SearchSlots): string {
  const named = enumerate(
    terms.map((term) => code(term.replaceAll("\n", "⏎"))),
    "or",
  );
  const notes = [
    regex ? "as a regular expression" : "",
    ignoreCase ? "ignoring case" : "",
    wholeWord ? "as a whole word" : "",
  ];
  const said = notes.filter((note) => note !== "").join(", ");
  return said === "" ? named : `${named} (${said})`;
}

function nothing(slots: SearchSlots): string {
  const no = slots.goal === "exists" ? "No. " : "";
  const isFile = slots.scope.path !== undefined && looksLikeFile(slots.scope.path);
  return `${no}${describeTerms(slots)} was not found in ${describeScope(slots.scope)}.${isFile ? "" : ` ${NOT_SEARCHED}`}`;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
