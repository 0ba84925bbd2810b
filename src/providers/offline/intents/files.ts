/** Files and folders: listed, counted, as a tree, by size; the text of a file; how long something is. */
import { readableShellWord } from "../../../base/shell-word.js";
import type { JsonObject } from "../../../protocol/json.js";
import { type NamedText, phraseIntent, readText, unreadable } from "../intent.js";
import {
  joinedText,
  type PathList,
  parseCommandOutput,
  parseCounts,
  parseFolderListing,
  parsePaths,
} from "../outputs.js";
import listPhrases from "../phrases/list.txt";
import measurePhrases from "../phrases/measure.txt";
import readPhrases from "../phrases/read.txt";
import { call, documentGlob, eitherOf, globCall, grep, listCall, type Plan, type PlannedCall } from "../plan.js";
import { numberOf } from "../request-text.js";
import type { Phrase } from "../tables.js";
import {
  cleanPath,
  describePlace,
  describeScope,
  looksLikeFile,
  type NamedFile,
  namedFile,
  namedPath,
  parseScope,
  type Scope,
  scopeOfKind,
} from "../terms.js";
import {
  bulleted,
  code,
  count,
  enumerate,
  fenced,
  mostSentence,
  numbers,
  paragraphs,
  ranked,
  tally,
} from "../wording.js";

/* ---- lists ---- */

interface ListSlots {
  readonly goal: keyof typeof LISTS;
  readonly scope: Scope;
  /** A name pattern, matched in any folder below the scope. */
  readonly name?: string;
  /** Of `largest`: how many. */
  readonly most?: number | undefined;
}

const LISTS = {
  entries: planEntries,
  tree: planEntries,
  folders: planFolders,
  "count-folders": planFolders,
  files: planFiles,
  "count-files": planFiles,
  "by-extension": planByExtension,
  largest: planLargest,
} satisfies Readonly<Record<string, (slots: ListSlots) => Plan>>;

export const matchList = phraseIntent<ListSlots>({
  name: "list",
  phrases: listPhrases,
  read({ meaning, slots }, request) {
    const goal = meaning as ListSlots["goal"];
    const words = goal === "by-extension" ? slots.scope?.replace(/^(?:this|it|we|used)$/i, "") : slots.scope;
    const place = parseScope(words ?? "", request);
    const scope = slots.kind === undefined ? place : scopeOfKind(slots.kind, place);
    if (scope === undefined) return undefined;
    const name = slots.name && request.term(slots.name).value;
    // Anything else is text to look for inside files.
    const isName = (value: string) => looksLikeFile(value) || /^(?=.*[*?])(?![*?]+$)[^\s()]+$/.test(value);
    if (name !== undefined) return isName(name) ? { goal, scope, name } : undefined;
    const ending = slots.ending && request.term(slots.ending).value.replace(/^\*?\.?/, "");
    if (ending !== undefined) return /^[\w.+-]+$/.test(ending) ? { goal, scope, name: `*.${ending}` } : undefined;
    const most = slots.most ?? slots.most2;
    // "list TODOs" asks for text, "list package.json" for a file.
    const isFolder = !looksLikeFile(scope.path ?? "") && !/^(?:todo|fixme|xxx|hack|note)s?$/i.test(scope.path ?? "");
    if (goal !== "entries") return { goal, scope, most: most === undefined ? undefined : Number(most) };
    return isFolder ? { goal: scope.kind === undefined ? goal : "files", scope } : undefined;
  },
  plan: (slots) => LISTS[slots.goal](slots),
});

const SHOWN_PATHS = 200;
const TREE_DEPTH = 4;
const DEEPEST = 6;
/** The number of extensions that get a separate call if one listing cannot hold all files. */
const EXACT_EXTENSIONS = 9;

const NOT_COUNTED = "Ignored files are not counted.";

function* planEntries({ goal, scope }: ListSlots): Plan {
  const listing = parseFolderListing((yield* call(listCall(scope, goal === "tree" ? TREE_DEPTH : 1))).text);
  const place = describePlace(scope, "This folder");
  if (listing.entries.length === 0) return `${place} is empty.`;
  const of = (kind: string) => listing.entries.filter((entry) => entry.kind === kind).length;
  const others = of("other") > 0 ? [count(of("other"), "link or other entry", "links or other entries")] : [];
  const parts = enumerate([count(of("folder"), "folder"), count(of("file"), "file"), ...others]);
  const tree = `The tree of ${describePlace(scope)}, ${TREE_DEPTH} levels deep at most:`;
  return paragraphs(goal === "tree" ? tree : `${place} holds ${parts}:`, fenced(listing.text), leftOut(listing));
}

function* planFolders({ scope, goal }: ListSlots): Plan {
  const listing = parseFolderListing((yield* call(listCall(scope, goal === "folders" ? 1 : DEEPEST))).text);
  const folders = listing.entries.filter((entry) => entry.kind === "folder");
  const direct = folders.flatMap(({ depth, name }) => (depth === 1 ? [`${name}/`] : []));
  const holds = `${describePlace(scope, "This folder")} holds ${count(direct.length, "folder")}`;
  if (goal === "folders") return paragraphs(`${holds}.`, bulleted(direct, SHOWN_PATHS), leftOut(listing));
  return `${holds} directly and ${count(folders.length, "folder")} with those inside, ${DEEPEST} levels deep at most and without the inside of ignored folders.`;
}

function leftOut(listing: { readonly leftOut: number }): string | false {
  const more = count(listing.leftOut, "more entry is", "more entries are");
  return listing.leftOut > 0 && `${more} not listed: one listing has a limit.`;
}

function* planFiles(slots: ListSlots): Plan {
  const { goal, scope, name } = slots;
  const list = parsePaths((yield* call(filesCall(slots))).text);
  const wanted = (noun: string) =>
    name === undefined
      ? `${scope.kind === undefined ? "" : `${scope.kind.label} `}${noun}`
      : `${noun} named ${code(name)}`;
  const all = total(list, wanted("file"), wanted("files"));
  const place = describePlace(scope);
  const kinds = scope.kind === undefined ? "" : ` (${scope.kind.names.join(", ")})`;
  const verb = totalOf(list) === 1 ? "is" : "are";
  if (goal === "count-files") return `There ${verb} ${all} in ${place}${kinds}. ${NOT_COUNTED}`;
  if (list.paths.length === 0) return `There is no ${wanted("file")} in ${place}. ${NOT_COUNTED}`;
  return paragraphs(
    `${all} in ${place}:`,
    bulleted(list.paths, SHOWN_PATHS),
    list.cut && `The listing has only the first ${list.paths.length} of them.`,
    NOT_COUNTED,
  );
}

function filesCall({ scope, name }: ListSlots): PlannedCall {
  const isDocument = /^(?:readme|licen[cs]e|changelog|contributing)$/i.test(name ?? "");
  if (name !== undefined) return globCall(isDocument ? documentGlob(name) : cleanPath(name), scope);
  return globCall(scope.kind === undefined ? "**/*" : eitherOf(scope.kind.names), scope);
}

function totalOf({ paths, cut }: PathList): number | undefined {
  return cut === undefined ? paths.length : cut.total;
}

export function total(list: PathList, one = "file", many = `${one}s`): string {
  const number = totalOf(list);
  return number === undefined ? `at least ${count(list.paths.length, one, many)}` : count(number, one, many);
}

function* planByExtension(slots: ListSlots): Plan {
  const { scope } = slots;
  const list = parsePaths((yield* call(filesCall(slots))).text);
  if (list.paths.length === 0) return `There are no files in ${describePlace(scope)}. ${NOT_COUNTED}`;
  let rows = tally(list.paths.map((path) => /[^/](\.[^./]+)$/.exec(path)?.[1] ?? "(none)"));
  if (list.cut !== undefined) {
    // One listing cannot hold them all, so a separate call counts each of the most frequent extensions.
    const names = rows.flatMap(([extension]) => (extension === "(none)" ? [] : [extension])).slice(0, EXACT_EXTENSIONS);
    const facts = yield names.map((extension) => globCall(`*${extension}`, scope));
    const exact = facts.map(({ text }, index) => [names[index] ?? "", totalOf(parsePaths(text)) ?? 0] as const);
    const others = (totalOf(list) ?? 0) - exact.reduce((sum, [, number]) => sum + number, 0);
    rows = [...ranked(exact), ...(others > 0 ? [["all others", others] as const] : [])];
  }
  return paragraphs(`${total(list)} in ${describePlace(scope)}:`, numbers(rows), NOT_COUNTED);
}

/** A line of `find -ls`: the size is the seventh column, the path the last. */
const FOUND = /^\s*(?:\S+\s+){6}(?<size>\d+)\s+\S+\s+\S+\s+\S+\s+(?:\.\/)?(?<path>.+)$/;

/** Runs a command, because no read tool reports sizes. It leaves out files that are not the project's own. */
function* planLargest({ scope, most = 10 }: ListSlots): Plan {
  const { path = ".", kind } = scope;
  const folder = readableShellWord(path.startsWith("-") ? `./${path}` : path);
  const names = kind?.names.map((name) => `-name ${readableShellWord(name)}`).join(" -o ");
  const filter = `-not -path '*/.git/*' -not -path '*/node_modules/*'${names === undefined ? "" : ` \\( ${names} \\)`}`;
  // `-ls` only reads, so it runs without asking.
  const command = `find ${folder} -type f ${filter} -ls | sort -k7,7nr | head -n ${most}`;
  const fact = yield* call({ tool: "bash", args: { command }, mayFail: true });
  const { output, exitCode, ending } = parseCommandOutput(fact);
  const rows = output.split("\n").flatMap((row) => {
    const { size, path: found = "" } = FOUND.exec(row)?.groups ?? {};
    return size === undefined ? [] : [[found, Number(size)] as const];
  });
  // The command continues when a folder is missing, and only prints a message.
  if (exitCode !== 0 || (rows.length === 0 && output.trim() !== ""))
    return paragraphs(`The sizes could not be found: ${ending}.`, fenced(output || "(no output)"));
  if (rows.length === 0) return `There are no files in ${describeScope(scope)}.`;
  return paragraphs(
    `The ${rows.length === 1 ? "largest file" : `${rows.length} largest files`} in ${describeScope(scope)}, in bytes:`,
    numbers(rows),
    "Folders named .git and node_modules were left out; other ignored files were not.",
  );
}

/* ---- the text of a file ---- */

interface ReadSlots extends NamedFile {
  readonly lines?: LineRange;
}

type LineRange =
  | { readonly type: "range"; readonly from: number; readonly to?: number | undefined }
  | { readonly type: "first" | "last"; readonly count: number };

const A_FEW_LINES = 10;
const SHOWN_LINES = 400;

export const matchRead = phraseIntent<ReadSlots>({
  name: "read",
  phrases: readPhrases,
  read({ meaning, slots }, request) {
    const { text } = request;
    // A bare word is a file only when it cannot be a slash command or part of one.
    if (/^\/\w+$/.test(text)) return undefined;
    const file = (/^what/i.test(text) ? namedFile : namedPath)(slots.file, request);
    if (file === undefined || meaning === "whole") return file;
    if (meaning === "range") return { ...file, lines: toRange(slots, text) };
    const usual = /\bline\b/i.test(text) ? 1 : A_FEW_LINES;
    const number = slots.n === undefined ? usual : numberOf(slots.n);
    return { ...file, lines: { type: meaning === "first" ? "first" : "last", count: number } };
  },
  plan: planRead,
});

function toRange({ from, to }: Phrase["slots"], text: string): LineRange {
  const first = Math.max(1, Number(from));
  const isOpen = to === undefined && /\bfrom (?:line )?\d+(?: on(?:wards?)?| to the end)?$/i.test(text);
  if (isOpen) return { type: "range", from: first };
  const last = Number(to ?? first);
  return { type: "range", from: Math.min(first, last), to: Math.max(first, last) };
}

function* planRead({ lines, ...file }: ReadSlots): Plan {
  if (lines?.type === "last") return yield* planLast(file, lines.count);
  const text = yield* readText(file, partOf(lines), function* failed(fact) {
    if (!/\bis a (?:folder|directory)\b/i.test(fact.text)) return yield* unreadable(file.path, fact);
    const { text: listed } = parseFolderListing((yield* call(listCall(file))).text);
    const name = code(file.path);
    return listed === "" ? `${name} is an empty folder.` : paragraphs(`${name} is a folder:`, fenced(listed));
  });
  return typeof text === "string" ? text : describeText(text);
}

function partOf(lines: LineRange | undefined): JsonObject {
  if (lines?.type !== "range") return { limit: lines?.count ?? SHOWN_LINES };
  return { offset: lines.from, limit: lines.to === undefined ? SHOWN_LINES : lines.to - lines.from + 1 };
}

function* planLast(file: NamedFile, most: number): Plan {
  // Reading the first line also returns the number of lines.
  const head = yield* readText(file, { limit: 1 });
  if (typeof head === "string") return head;
  const { path, lines, totalLines } = head;
  if (lines.length === 0) return describeText(head);
  if (totalLines === undefined)
    return `${code(path)} is too large for its number of lines to be known, so its end cannot be shown. Try: run ${code(`tail -n ${most} ${path}`)}`;
  const end = yield* readText({ path }, { offset: Math.max(1, totalLines - most + 1), limit: most });
  return typeof end === "string" ? end : describeText(end);
}

function describeText({ path, lines, totalLines, linesCut }: NamedText): string {
  const [first, last] = [lines[0]?.line, lines.at(-1)?.line];
  if (first === undefined) return `${code(path)} is empty.`;
  const range = first === last ? `line ${first}` : `lines ${first}-${last}`;
  const isWhole = first === 1 && last === totalLines;
  const extent = isWhole ? ` (${count(totalLines ?? 0, "line")})` : `, ${range} of ${totalLines ?? "a large file"}`;
  const text = lines.map((line) => line.text).join("\n");
  return paragraphs(`${code(path)}${extent}:`, fenced(text), linesCut && "Some lines are cut.");
}

/* ---- how long something is ---- */

interface MeasureSlots {
  readonly unit: keyof typeof UNITS;
  /** One file, or … */
  readonly file?: string;
  readonly lookUp?: true | undefined;
  /** … all files of a place, for lines only. */
  readonly scope?: Scope;
  /** The request asks for the file that has most of them. */
  readonly most?: true;
}

const UNITS = {
  characters: {
    asked: /^[cm]|^letter/i,
    pattern: /[\s\S]/gu,
    note: " (line ends included, except after the last line)",
  },
  words: { asked: /^w/i, pattern: /\S+/g, note: " (pieces of text between spaces)" },
  lines: { asked: /^/, pattern: /^/gm, note: "" },
};
const UNIT_NAMES = Object.keys(UNITS) as readonly (keyof typeof UNITS)[];

export const matchMeasure = phraseIntent<MeasureSlots>({
  name: "measure",
  phrases: measurePhrases,
  read({ meaning, slots }, request) {
    const scope = parseScope(slots.place ?? "", request);
    if (meaning === "longest") return scope && { unit: "lines", scope, most: true };
    const unit = UNIT_NAMES.find((each) => UNITS[each].asked.test(slots.flag ?? slots.unit ?? "")) ?? "lines";
    const file = namedFile(slots.place?.replace(/^(?:the |this |file )+/i, "").replace(/ file$/i, ""), request);
    if (file !== undefined) return { unit, file: file.path, lookUp: file.lookUp };
    // "how long is the project" does not ask for lines.
    if (unit !== "lines" || scope === undefined || meaning === "length") return undefined;
    const ofKind = slots.kind === undefined ? scope : scopeOfKind(slots.kind, scope);
    return ofKind && { unit, scope: ofKind };
  },
  plan: planMeasure,
});

const MOST_FILES = 2000;
const SHOWN_FILES = 15;
/** A search of one file stops counting here. */
const MOST_IN_ONE_FILE = 20_000;
/** Every line has one beginning. */
const LINE = "^";

function* planMeasure({ unit, file, lookUp, scope = {}, most }: MeasureSlots): Plan {
  if (file === undefined) return yield* planScope(scope, most);
  const isLines = unit === "lines";
  // Reading the first line also returns the number of lines.
  const text = yield* readText({ path: file, lookUp }, { limit: isLines ? 1 : undefined });
  if (typeof text === "string") return text;
  const { path, totalLines, whole } = text;
  const found = whole ? (joinedText(text).match(UNITS[unit].pattern)?.length ?? 0) : undefined;
  let number = isLines ? totalLines : found;
  // `read` renders notebooks and does not count very large files, so a search counts those.
  if (isLines && (totalLines === undefined || path.endsWith(".ipynb"))) {
    number = parseCounts(yield* grep(LINE, { path }, { mode: "count" })).files[0]?.count ?? 0;
    if (number >= MOST_IN_ONE_FILE) number = undefined;
  }
  if (number !== undefined) return `${code(path)} has ${count(number, unit.slice(0, -1))}${UNITS[unit].note}.`;
  const flag = unit === "characters" ? "m" : unit.charAt(0);
  return `${code(path)} is too long for its ${unit} to be counted by reading. For the exact number: run ${code(`wc -${flag} ${readableShellWord(path)}`)}`;
}

function* planScope(scope: Scope, most: true | undefined): Plan {
  const { files, cut } = parseCounts(yield* grep(LINE, scope, { mode: "count", limit: MOST_FILES }));
  const place = describeScope(scope);
  if (files.length === 0) return `There are no text files with lines in ${place}.`;
  const rows = ranked(files.map((each) => [each.path, each.count]));
  const lines = files.reduce((sum, each) => sum + each.count, 0);
  const atLeast = cut === undefined ? "" : "at least ";
  return paragraphs(
    `${most ? `${mostSentence(rows, "line")} ` : ""}${place.charAt(0).toUpperCase()}${place.slice(1)} has ${atLeast}${count(lines, "line")} in ${atLeast}${count(files.length, "text file")}, blank lines and comments included.`,
    numbers(rows, SHOWN_FILES),
    cut && `This is partial: the search listed the first ${files.length} files by path. Ask for one folder at a time.`,
    "Empty, binary and ignored files are not counted.",
  );
}
