/** Finding text: where it is, in which files, how often, where a name is defined. */
import { groupDigits } from "../../../base/group-digits.js";
import type { Match } from "../intent.js";
import {
  type CountList,
  joinedText,
  type MatchList,
  parseCounts,
  parseFileText,
  parseMatches,
  parsePaths,
} from "../outputs.js";
import phrases from "../phrases/search.txt";
import { call, escapeRegex, grep, type Plan, readCall, type Steps } from "../plan.js";
import type { RequestText } from "../request-text.js";
import { type Phrase, phraseBook } from "../tables.js";
import {
  describeScope,
  isTag,
  looksLikeFile,
  looksLikePath,
  parseScope,
  parseTerms,
  type Scope,
  type SearchGoal,
  type SearchTerms,
  takeOptions,
} from "../terms.js";
import { bulleted, code, count, enumerate, fenced, mostSentence, numbers, paragraphs, ranked } from "../wording.js";

interface SearchSlots {
  readonly goal: SearchGoal;
  readonly terms: readonly string[];
  readonly scope: Scope;
  readonly regex?: true | undefined;
  readonly ignoreCase?: true | undefined;
  readonly wholeWord?: true | undefined;
}

const matches = phraseBook(phrases);

export function matchSearch(request: RequestText): Match | undefined {
  const { text, options } = takeOptions(request.text);
  for (const { meaning, traits, slots: words } of matches(text)) {
    const found = parseTerms(words.term ?? "", request, traits);
    const scope = parseScope(words.scope ?? "", request);
    if (found === undefined || scope === undefined || !isMeant(found, traits)) continue;
    const isName = traits.name !== undefined;
    const goal = meaning as SearchGoal;
    const slots: SearchSlots = {
      goal: goal === "lines" || goal === "count" ? (options.goal ?? goal) : goal,
      terms: isName ? found.terms.map((term) => term.replace(/\(\)$/, "")) : found.terms,
      scope,
      regex: found.regex,
      ignoreCase: options.ignoreCase ?? found.anyCase,
      wholeWord: options.wholeWord ?? (isName || undefined),
    };
    return { intent: "search", slots, plan: () => PLANS[slots.goal](slots) };
  }
  return undefined;
}

/** Checks what was found: `name` asks for a name of the program, `tagOnly` takes only a tag such as TODO without quotes. */
function isMeant(found: SearchTerms, { name, tagOnly, words = "1" }: Phrase["traits"]): boolean {
  const isName = (term: string) => /^#?[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[\w$]+)*(?:\(\))?$/.test(term);
  if (name !== undefined) return found.regex !== true && found.terms.every(isName);
  if (found.quoted) return true;
  if (tagOnly !== undefined) return found.anyCase === true || found.terms.every(isTag);
  // "find package.json" asks for a file.
  const isFile = (term: string) => looksLikeFile(term) || looksLikePath(term) || /[*?]/.test(term);
  return words !== "1" || !found.terms.some(isFile);
}

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

/* ---- how often, and where most ---- */

function* planCounts(slots: SearchSlots): Plan {
  const { goal, scope } = slots;
  const { files, cut, unit } = yield* countMatches(slots);
  if (files.length === 0) return nothing(slots);
  // "Find every …" also wants to see them.
  const lines = goal === "count" ? undefined : yield* findLines(slots);
  const rows = ranked(files.map((file) => [file.path, file.count]));
  const total = files.reduce((sum, file) => sum + file.count, 0);
  const atLeast = cut === undefined ? "" : "at least ";
  const isOne = files.length === 1 && cut === undefined;
  const inFiles = isOne ? `all in ${code(rows[0]?.[0] ?? "")}` : `in ${atLeast}${count(files.length, "file")}`;
  const isFile = isTheFile(slots, files);
  const most = goal === "most" ? `${mostSentence(rows, unit, cut && ", among the files that were listed")} ` : "";
  const found = `${describeTerms(slots)}: ${atLeast}${count(total, unit)} in ${describeScope(scope)}`;
  const listed = `${groupDigits(files.length)}${cut?.total === undefined ? "" : ` of ${groupDigits(cut.total)}`}`;
  return paragraphs(
    isFile ? `${found}.` : `${most}${found}, ${inFiles}.`,
    files.length > 1 && numbers(rows, SHOWN_FILES),
    lines && describeLines(lines, "The lines:"),
    cut &&
      `This is partial: the search listed the first ${listed} files by path. Ask for one folder at a time to get exact numbers.`,
    !isFile && NOT_SEARCHED,
  );
}

interface MatchCounts extends CountList {
  /** The name of what one of the numbers stands for: "occurrence" or "matching line". */
  readonly unit: string;
}

/** Counts in each file: the exact number, or the number of matching lines with that unit. */
function* countMatches(slots: SearchSlots): Steps<MatchCounts> {
  const { path } = slots.scope;
  if (path !== undefined && looksLikeFile(path)) return yield* countInFile(path, slots);
  // Over whole files a search counts every occurrence; line by line, two on one line are one.
  const options = { mode: "count", multiline: true, ignore_case: slots.ignoreCase, limit: MOST_FILES };
  const counts = parseCounts(yield* grep(patternOf(slots), slots.scope, options));
  // The name did not look like a file, but it is one.
  if (path !== undefined && isTheFile(slots, counts.files)) return yield* countInFile(path, slots);
  return { ...counts, unit: "occurrence" };
}

/** Counts in the text of a file that one read shows whole, because a search within one file counts lines. */
function* countInFile(path: string, slots: SearchSlots): Steps<MatchCounts> {
  const pattern = patternOf(slots);
  const fact = yield* call(readCall(path));
  const text = fact.failed ? undefined : parseFileText(fact.text);
  // A literal pattern means the same here as in the search.
  if (text?.whole && slots.regex !== true && !path.endsWith(".ipynb")) {
    const found = joinedText(text).match(new RegExp(pattern, slots.ignoreCase ? "giu" : "gu"))?.length ?? 0;
    return { files: found === 0 ? [] : [{ path, count: found }], unit: "occurrence" };
  }
  const lines = parseCounts(yield* grep(pattern, { path }, { mode: "count", ignore_case: slots.ignoreCase }));
  return { ...lines, unit: "matching line" };
}

/** Tells whether the search was for one file, and that is where it was found. */
function isTheFile({ scope }: SearchSlots, files: readonly { readonly path: string }[]): boolean {
  return files.length === 1 && files[0]?.path === scope.path;
}

/* ---- which files, and the lines ---- */

function* planFiles(slots: SearchSlots): Plan {
  const options = { mode: "files", ignore_case: slots.ignoreCase, limit: MOST_FILES };
  const { paths, cut } = parsePaths(yield* grep(patternOf(slots), slots.scope, options));
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

function* planLines(slots: SearchSlots): Plan {
  const found = yield* findLines(slots);
  if (found.files.length === 0) return nothing(slots);
  const isFile = isTheFile(slots, found.files);
  const totals = isFile ? describeTotals(found).replace(/ in 1 file$/, " in") : `${describeTotals(found)} of`;
  return paragraphs(
    `${slots.goal === "exists" ? "Yes. " : ""}${describeTerms(slots)}: ${totals} ${describeScope(slots.scope)}.`,
    describeLines(found),
    !isFile && NOT_SEARCHED,
  );
}

function* findLines(slots: SearchSlots): Steps<MatchList> {
  const multiline = slots.terms.some((term) => term.includes("\n")) || undefined;
  const options = { mode: "content", ignore_case: slots.ignoreCase, multiline, limit: MOST_LINES };
  return parseMatches(yield* grep(patternOf(slots), slots.scope, options));
}

function describeTotals({ files, cut }: MatchList): string {
  const atLeast = cut !== undefined && cut.total === undefined ? "at least " : "";
  const total = count(cut?.total ?? files.flatMap(({ lines }) => lines).length, "matching line");
  return `${atLeast}${total} in ${atLeast}${count(cut?.totalFiles ?? files.length, "file")}`;
}

/** Lists the lines by file, with a title if some are left out. */
function describeLines({ files, cut }: MatchList, titleOfAll = ""): string {
  const all = files.flatMap(({ lines }) => lines).length;
  const total = cut === undefined ? all : cut.total;
  const shown = Math.min(all, SHOWN_LINES);
  const of = total === undefined ? "" : ` of ${groupDigits(total)}`;
  let left = shown;
  const blocks = files.flatMap(({ path, lines }) => {
    const rows = lines.slice(0, left).map(({ line, text }) => `  ${line}: ${text.trim()}`);
    left -= rows.length;
    return rows.length === 0 ? [] : [[path, ...rows].join("\n")];
  });
  const title = total === shown ? titleOfAll : `The lines (first ${shown}${of}, by path):`;
  return paragraphs(title, fenced(blocks.join("\n\n")));
}

/* ---- where a name is defined, by patterns of common languages ---- */

const DECLARATIONS =
  "function\\*?|class|interface|type|enum|struct|trait|namespace|module|mod|def|fn|func|fun|sub|proc|object|record|protocol|union|macro_rules!|#define|defmodule|defp?|typedef|impl|extension|actor";
const BINDINGS = "const|let|var|val|static|final|local|my|our|readonly";
const MODIFIERS =
  "(?:(?:export|default|public|private|protected|internal|static|async|override|readonly|abstract|final|virtual|get|set|inline|constexpr|unsafe|extern|declare|typedef|data|sealed|open|partial|const|pub(?:\\([^)]*\\))?|template\\s*<[^>]*>|@[\\w.]+(?:\\([^)]*\\))?)\\s+)*";

/** Writes what the definition of a name looks like; without look-around, because the search does not support it. */
function definitionPattern(name: string): string {
  const last = /[^.:#>]+$/.exec(name)?.[0] ?? name;
  const n = escapeRegex(last);
  const end = /\w$/.test(last) ? "\\b" : "";
  return [
    // function x, class x, func (receiver) x
    `^\\s*${MODIFIERS}(?:${DECLARATIONS})\\s+(?:\\([^)]*\\)\\s*)?${n}${end}`,
    // const x = , let x:
    `^\\s*${MODIFIERS}(?:${BINDINGS})\\s+(?:mut\\s+)?${n}\\s*[:=;]`,
    // a method with its body: x(…) {
    `^\\s*${MODIFIERS}[*#]?${n}\\s*(?:<[^>]*>)?\\([^;]*\\)\\s*(?::\\s*[^={};]+)?\\{`,
    // int x(…), at the beginning of a line
    `^[A-Za-z_][\\w:<>,*&\\[\\] ]*[ *&]${n}\\s*\\([^;]*\\)?\\s*(?:const\\s*)?\\{?\\s*$`,
    // x = …, x: type = …, at the beginning of a line
    `^${n}\\s*(?::[^=]+)?=[^=]`,
    // x: function, x: (…) =>
    `^\\s*["']?${n}["']?\\s*[:=]\\s*(?:async\\s*)?(?:function\\b|\\([^)]*\\)\\s*(?::[^=]+)?=>)`,
    // x() in a shell
    `^${n}\\s*\\(\\)\\s*\\{?\\s*$`,
  ].join("|");
}

/** Holds what the patterns cannot exclude: a statement that uses the name, a comment; "the class Turn" in prose is no definition either. */
const NOT_A_DEFINITION =
  /^\s*(?:return|await|throw|else|new|yield|case|import|from|if|while|for|and|or|not|delete|typeof|void|print|assert|echo|use|using|require|include|go|defer|raise|export\s+(?:\{|\*|type\s*\{)|\/\/|\/?\*|#(?!\s*define)|--|"|')/;
const PROSE = /\.(?:md|markdown|mdx|txt|rst|adoc|html?|log)$/i;

function* planDefinition(slots: SearchSlots): Plan {
  const name = slots.terms[0] ?? "";
  const options = { mode: "content", limit: MOST_LINES };
  const found = parseMatches(yield* grep(definitionPattern(name), slots.scope, options));
  const files = found.files
    .filter(({ path }) => !PROSE.test(path))
    .map(({ path, lines }) => ({ path, lines: lines.filter(({ text }) => !NOT_A_DEFINITION.test(text)) }));
  const [first, ...others] = files.flatMap(({ path, lines }) => lines.map(({ line }) => code(`${path}:${line}`)));
  if (first !== undefined) {
    const many = `${count(others.length + 1, "line")} look like a definition of ${code(name)}.`;
    return paragraphs(
      others.length === 0 ? `${code(name)} is defined at ${first}.` : many,
      describeLines({ files }),
      found.cut && "The search was cut, so there may be more.",
      "Found by patterns for common languages, not by a parser.",
    );
  }
  const mentions = yield* findLines(slots);
  if (mentions.files.length === 0) return nothing(slots);
  return paragraphs(
    `No line in ${describeScope(slots.scope)} looks like a definition of ${code(name)}, but it is mentioned: ${describeTotals(mentions)}.`,
    describeLines(mentions),
    NOT_SEARCHED,
  );
}

/* ---- shared ---- */

function patternOf({ terms, regex, wholeWord }: SearchSlots): string {
  const patterns = terms.map((term) => {
    const pattern = regex ? term : escapeRegex(term);
    if (wholeWord !== true) return pattern;
    return `${/^\w/.test(term) ? "\\b" : ""}(?:${pattern})${/\w$/.test(term) ? "\\b" : ""}`;
  });
  return patterns.join("|");
}

function describeTerms({ terms, regex, ignoreCase, wholeWord }: SearchSlots): string {
  const shown = terms.map((term) => code(term.replaceAll("\n", "⏎")));
  const notes = [regex && "as a regular expression", ignoreCase && "ignoring case", wholeWord && "as a whole word"];
  const note = notes.filter(Boolean).join(", ");
  return `${enumerate(shown, "or")}${note === "" ? "" : ` (${note})`}`;
}

function nothing(slots: SearchSlots): string {
  const no = slots.goal === "exists" ? "No. " : "";
  const isFile = looksLikeFile(slots.scope.path ?? "");
  return `${no}${describeTerms(slots)} was not found in ${describeScope(slots.scope)}.${isFile ? "" : ` ${NOT_SEARCHED}`}`;
}
