/** Files and folders by place, kind or name: listed, counted, as a tree, by size. */

import { groupDigits } from "../../../base/group-digits.js";
import { documentGlob, eitherOf, globCall, listCall } from "../calls.js";
import { type FileKind, findFileKind, KIND_WORDS } from "../file-kinds.js";
import type { Intent } from "../intent.js";
import { parseCommandOutput } from "../outputs/command-output.js";
import { type FolderListing, parseFolderListing } from "../outputs/folder-listing.js";
import { type PathList, parsePaths } from "../outputs/search-output.js";
import phrases from "../phrases/list.txt";
import { PhraseBook } from "../phrases.js";
import { call, type Plan } from "../plan.js";
import type { RequestText } from "../request-text.js";
import { cleanPath, describeScope, looksLikeFile, parseScope, type Scope, WHOLE_PROJECT } from "../scope.js";
import { shellWord } from "../shell-word.js";
import { bulleted, code, count, enumerate, fenced, paragraphs } from "../wording.js";

export type ListGoal =
  | "entries"
  | "files"
  | "folders"
  | "tree"
  | "count-files"
  | "count-folders"
  | "by-extension"
  | "largest";

export interface ListSlots {
  readonly goal: ListGoal;
  readonly scope: Scope;
  /** A name pattern, matched in any folder below the scope. */
  readonly name?: string;
  /** Of `largest`: how many. */
  readonly most?: number;
}

const PHRASES = new PhraseBook(phrases, { macros: { KIND_WORDS } });

export function parseList(request: RequestText): ListSlots | undefined {
  for (const { meaning, slots } of PHRASES.matches(request.text)) {
    const goal = meaning as ListGoal;
    const words = goal === "by-extension" ? slots.scope?.replace(/^(?:this|it|we|used)$/i, "") : slots.scope;
    const scope = words === undefined ? WHOLE_PROJECT : parseScope(words, request);
    const found = scope && build(slots, { request, goal, scope });
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Build {
  readonly request: RequestText;
  readonly goal: ListGoal;
  readonly scope: Scope;
}

function build(
  groups: Readonly<Record<string, string | undefined>>,
  { request, goal, scope }: Build,
): ListSlots | undefined {
  if (goal === "entries" && !mayBeFolder(scope.path ?? "")) return undefined;
  if (groups.kind !== undefined) {
    const kind: FileKind | undefined = findFileKind(groups.kind);
    return kind === undefined || scope.kind !== undefined ? undefined : { goal, scope: { ...scope, kind } };
  }
  if (groups.ending !== undefined) {
    const ending = request.term(groups.ending).value.replace(/^\*/, "");
    return /^[\w.+-]+$/.test(ending)
      ? { goal, scope, name: `*${ending.startsWith(".") ? "" : "."}${ending}` }
      : undefined;
  }
  if (groups.name !== undefined) {
    const { value, quoted } = request.term(groups.name);
    const meant = quoted ? /^\S+$/.test(value) && looksLikeName(value) : looksLikeName(value);
    return meant ? { goal, scope, name: value } : undefined;
  }
  const most = groups.most ?? groups.most2;
  if (goal === "entries" && scope.kind !== undefined) return { goal: "files", scope };
  return { goal, scope, ...(most !== undefined && { most: Number(most) }) };
}

/** "list TODOs" asks for text, "list package.json" for a file. */
function mayBeFolder(path: string): boolean {
  return !looksLikeFile(path) && !/^(?:todo|fixme|xxx|hack|note)s?$/i.test(path);
}

/** A file name or a glob; anything else is text to look for inside files. */
function looksLikeName(value: string): boolean {
  return looksLikeFile(value) || (/[*?]/.test(value) && /^[^\s()]+$/.test(value) && !/^[*?]+$/.test(value));
}

const SHOWN_PATHS = 200;
const TREE_DEPTH = 4;
const DEEPEST = 6;
const DEFAULT_LARGEST = 10;
/** Extensions that get a call of their own when one listing cannot hold all files. */
const EXACT_EXTENSIONS = 9;

const NOT_COUNTED = "What ignore files exclude is not counted.";

export function* planList(slots: ListSlots): Plan {
  switch (slots.goal) {
    case "entries":
    case "tree":
      return yield* planEntries(slots);
    case "folders":
    case "count-folders":
      return yield* planFolders(slots);
    case "files":
      return yield* planFiles(slots);
    case "count-files":
      return yield* planFileCount(slots);
    case "by-extension":
      return yield* planByExtension(slots.scope);
    case "largest":
      return yield* planLargest(slots);
  }
}

function* planEntries({ goal, scope }: ListSlots): Plan {
  const isTree = goal === "tree";
  const listing = parseFolderListing((yield* call(listCall(scope, isTree ? TREE_DEPTH : 1))).text);
  const { entries, leftOut } = listing;
  if (entries.length === 0) return `${placeOf(scope)} is empty.`;
  const [folders, files] = ["folder", "file"].map((kind) => entries.filter((entry) => entry.kind === kind).length);
  const others = entries.length - (folders ?? 0) - (files ?? 0);
  const parts = [count(folders ?? 0, "folder"), count(files ?? 0, "file")];
  if (others > 0) parts.push(count(others, "link or other entry", "links or other entries"));
  const holds = `${placeOf(scope)} holds ${enumerate(parts)}${leftOut > 0 ? ", and more that are not listed" : ""}:`;
  const tree = `The tree of ${describePlace(scope)}, ${TREE_DEPTH} levels deep at most:`;
  return paragraphs(isTree ? tree : holds, fenced(listing.text), leftOutSentence(listing));
}

function* planFolders({ goal, scope }: ListSlots): Plan {
  const deep = goal === "count-folders";
  const listing = parseFolderListing((yield* call(listCall(scope, deep ? DEEPEST : 1))).text);
  const folders = listing.entries.filter((entry) => entry.kind === "folder");
  const direct = folders.filter((entry) => entry.depth === 1);
  if (!deep) {
    const sentence = `${placeOf(scope)} holds ${count(direct.length, "folder")}${direct.length === 0 ? "." : ":"}`;
    return paragraphs(
      sentence,
      bulleted(
        direct.map((entry) => `${entry.name}/`),
        SHOWN_PATHS,
      ),
      leftOutSentence(listing),
    );
  }
  const ignored = folders.filter((entry) => entry.closed === "ignored").length;
  const deeper =
    folders.some((entry) => entry.depth === DEEPEST || entry.closed === "not listed") || listing.leftOut > 0;
  return paragraphs(
    `${placeOf(scope)} holds ${count(direct.length, "folder")} directly and ${deeper ? "at least " : ""}${count(folders.length, "folder")} with those inside.`,
    ignored > 0
      ? `${count(ignored, "of them is ignored, and its", "of them are ignored, and their")} inside is not counted.`
      : undefined,
    deeper
      ? `This is partial: folders more than ${DEEPEST} levels deep, or past the limit of one listing, were not counted.`
      : undefined,
  );
}

function placeOf({ path }: Scope, whole = "This folder"): string {
  return path === undefined || path === "." ? whole : code(path);
}

function describePlace(scope: Scope): string {
  return placeOf(scope, "this project");
}

function leftOutSentence({ leftOut }: FolderListing): string | undefined {
  return leftOut > 0
    ? `${count(leftOut, "more entry", "more entries")} are not listed: one listing has a limit.`
    : undefined;
}

function* planFiles({ scope, name }: ListSlots): Plan {
  const list = parsePaths((yield* call(globCall(patternOf(scope, name), scope))).text);
  const what = describeWanted(scope, name);
  if (list.paths.length === 0) return `There is no ${what.one} in ${describePlace(scope)}. ${NOT_COUNTED}`;
  return paragraphs(
    `${total(list, what)} in ${describePlace(scope)}:`,
    bulleted(list.paths, SHOWN_PATHS),
    list.cut === undefined ? undefined : `The listing holds only the first ${list.paths.length} of them.`,
    NOT_COUNTED,
  );
}

function* planFileCount({ scope, name }: ListSlots): Plan {
  const list = parsePaths((yield* call(globCall(patternOf(scope, name), scope))).text);
  const what = describeWanted(scope, name);
  const number = totalOf(list);
  if (number === undefined)
    return `At least ${count(list.paths.length, what.one, what.many)} in ${describePlace(scope)}; the listing was cut. ${NOT_COUNTED}`;
  const verb = number === 1 ? "is" : "are";
  return `There ${verb} ${count(number, what.one, what.many)} in ${describePlace(scope)}${scope.kind === undefined ? "" : ` (${scope.kind.names.join(", ")})`}. ${NOT_COUNTED}`;
}

function patternOf(scope: Scope, name: string | undefined): string {
  if (name !== undefined)
    return /^(?:readme|licen[cs]e|changelog|contributing)$/i.test(name) ? documentGlob(name) : cleanPath(name);
  return scope.kind === undefined ? "**/*" : eitherOf(scope.kind.names);
}

interface Wanted {
  readonly one: string;
  readonly many: string;
}

const ANY_FILE: Wanted = { one: "file", many: "files" };

function describeWanted(scope: Scope, name: string | undefined): Wanted {
  if (name !== undefined) return { one: `file named ${code(name)}`, many: `files named ${code(name)}` };
  if (scope.kind === undefined) return ANY_FILE;
  return { one: `${scope.kind.label} file`, many: `${scope.kind.label} files` };
}

function totalOf({ paths, cut }: PathList): number | undefined {
  return cut === undefined ? paths.length : cut.total;
}

function total(list: PathList, { one, many }: Wanted): string {
  const number = totalOf(list);
  return number === undefined ? `At least ${count(list.paths.length, one, many)}` : count(number, one, many);
}

function* planByExtension(scope: Scope): Plan {
  const list = parsePaths((yield* call(globCall(patternOf(scope, undefined), scope))).text);
  if (list.paths.length === 0) return `There are no files in ${describePlace(scope)}. ${NOT_COUNTED}`;
  const seen = countExtensions(list.paths);
  if (list.cut === undefined)
    return paragraphs(`${count(list.paths.length, "file")} in ${describePlace(scope)}:`, table(seen), NOT_COUNTED);
  // One listing cannot hold them all: each of the most frequent extensions is counted by a call of its own.
  const asked = seen.filter(([extension]) => extension.startsWith(".")).slice(0, EXACT_EXTENSIONS);
  const facts = yield asked.map(([extension]) => globCall(`*${extension}`, scope));
  const exact = asked.map(([extension], index): [string, number] => [
    extension,
    totalOf(parsePaths(facts[index]?.text ?? "")) ?? 0,
  ]);
  const rest =
    list.cut.total === undefined ? undefined : list.cut.total - exact.reduce((sum, [, number]) => sum + number, 0);
  return paragraphs(
    `${total(list, ANY_FILE)} in ${describePlace(scope)}:`,
    table([
      ...exact.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)),
      ...(rest === undefined || rest === 0 ? [] : [["all others", rest] as const]),
    ]),
    NOT_COUNTED,
  );
}

/** Most frequent first; names in order where numbers are equal. */
export function countExtensions(paths: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const extension = /[^/](\.[^./]+)$/.exec(path)?.[1] ?? "(none)";
    counts.set(extension, (counts.get(extension) ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

function table(rows: readonly (readonly [string, number])[]): string {
  const width = Math.max(...rows.map(([, number]) => String(number).length));
  return fenced(rows.map(([extension, number]) => `${String(number).padStart(width)}  ${extension}`).join("\n"));
}

/** No reading tool tells sizes, so a command has to. It leaves out what is not the project's own. */
function* planLargest({ scope, most = DEFAULT_LARGEST }: ListSlots): Plan {
  const place = scope.path ?? ".";
  const skipped = ["*/.git/*", "*/node_modules/*"].map((pattern) => `-not -path ${shellWord(pattern)}`).join(" ");
  const names =
    scope.kind === undefined
      ? ""
      : ` \\( ${scope.kind.names.map((name) => `-name ${shellWord(name)}`).join(" -o ")} \\)`;
  const folder = shellWord(place.startsWith("-") ? `./${place}` : place);
  // `-ls` only reads, so that it runs unasked.
  const command = `find ${folder} -type f ${skipped}${names} -ls | sort -k7,7nr | head -n ${most}`;
  const result = parseCommandOutput(yield* call({ tool: "bash", args: { command }, mayFail: true }));
  if (result.exitCode !== 0)
    return paragraphs(`The sizes could not be found: ${result.ending}.`, fenced(result.output || "(no output)"));
  const rows = result.output.split("\n").flatMap((row) => {
    const match = /^\s*\d+\s+\d+\s+\S+\s+\d+\s+\S+\s+\S+\s+(\d+)\s+\S+\s+\S+\s+\S+\s+(.+)$/.exec(row);
    return match === null ? [] : [{ size: Number(match[1]), path: (match[2] ?? "").replace(/^\.\//, "") }];
  });
  // The command goes on when a folder is missing, and only says so.
  if (rows.length === 0 && result.output.trim() !== "")
    return paragraphs("The sizes could not be found:", fenced(result.output));
  if (rows.length === 0) return `There are no files in ${describeScope(scope)}.`;
  return paragraphs(
    `The ${rows.length === 1 ? "largest file" : `${rows.length} largest files`} in ${describeScope(scope)}, in bytes:`,
    fenced(rows.map(({ size, path }) => `${groupDigits(size).padStart(13)}  ${path}`).join("\n")),
    "Folders named .git and node_modules were left out; other ignored files were not.",
  );
}

export const listIntent: Intent<ListSlots> = { name: "list", parse: parseList, plan: planList };
