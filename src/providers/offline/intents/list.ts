/** Files and folders by place, kind or name: listed, counted, as a tree, by size. */
import { readableShellWord } from "../../../base/shell-word.js";
import { documentGlob, eitherOf, globCall, listCall } from "../calls.js";
import { findFileKind } from "../file-kinds.js";
import { phraseIntent } from "../intent.js";
import { parseCommandOutput } from "../outputs/command-output.js";
import { type FolderListing, parseFolderListing } from "../outputs/folder-listing.js";
import { type PathList, parsePaths } from "../outputs/search-output.js";
import phrases from "../phrases/list.txt";
import type { Phrase } from "../phrases.js";
import { call, type Plan } from "../plan.js";
import type { RequestText } from "../request-text.js";
import { cleanPath, describePlace, describeScope, looksLikeFile, parseScope, type Scope } from "../scope.js";
import { bulleted, code, count, enumerate, fenced, numbers, paragraphs, ranked, tally } from "../wording.js";

interface ListSlots {
  readonly goal: keyof typeof PLANS;
  readonly scope: Scope;
  /** A name pattern, matched in any folder below the scope. */
  readonly name?: string;
  /** Of `largest`: how many. */
  readonly most?: number;
}

const PLANS = {
  entries: planEntries,
  tree: planEntries,
  folders: planFolders,
  "count-folders": planFolders,
  files: planFiles,
  "count-files": planFileCount,
  "by-extension": planByExtension,
  largest: planLargest,
} satisfies Readonly<Record<string, (slots: ListSlots) => Plan>>;

function readSlots({ meaning, slots }: Phrase, request: RequestText): ListSlots | undefined {
  const goal = meaning as ListSlots["goal"];
  const words = goal === "by-extension" ? slots.scope?.replace(/^(?:this|it|we|used)$/i, "") : slots.scope;
  const scope = parseScope(words ?? "", request);
  if (scope === undefined || (goal === "entries" && !mayBeFolder(scope.path ?? ""))) return undefined;
  if (slots.kind !== undefined) {
    const kind = findFileKind(slots.kind);
    return kind === undefined || scope.kind !== undefined ? undefined : { goal, scope: { ...scope, kind } };
  }
  if (slots.ending !== undefined) {
    const ending = request.term(slots.ending).value.replace(/^\*?\.?/, "");
    return /^[\w.+-]+$/.test(ending) ? { goal, scope, name: `*.${ending}` } : undefined;
  }
  if (slots.name !== undefined) {
    const { value } = request.term(slots.name);
    return isNameOrGlob(value) ? { goal, scope, name: value } : undefined;
  }
  const most = slots.most ?? slots.most2;
  if (goal === "entries" && scope.kind !== undefined) return { goal: "files", scope };
  return { goal, scope, ...(most !== undefined && { most: Number(most) }) };
}

/** "list TODOs" asks for text, "list package.json" for a file. */
function mayBeFolder(path: string): boolean {
  return !looksLikeFile(path) && !/^(?:todo|fixme|xxx|hack|note)s?$/i.test(path);
}

/** Anything else is text to look for inside files. */
function isNameOrGlob(value: string): boolean {
  return looksLikeFile(value) || (/[*?]/.test(value) && /^[^\s()]+$/.test(value) && !/^[*?]+$/.test(value));
}

const SHOWN_PATHS = 200;
const TREE_DEPTH = 4;
const DEEPEST = 6;
/** The number of extensions that get a separate call if one listing cannot hold all files. */
const EXACT_EXTENSIONS = 9;

const NOT_COUNTED = "Ignored files are not counted.";

function* planEntries({ goal, scope }: ListSlots): Plan {
  const listing = parseFolderListing((yield* call(listCall(scope, goal === "tree" ? TREE_DEPTH : 1))).text);
  const { entries, text } = listing;
  const place = describePlace(scope, "This folder");
  if (entries.length === 0) return `${place} is empty.`;
  const kinds = {
    folder: ["folder"],
    file: ["file"],
    other: ["link or other entry", "links or other entries"],
  } as const;
  const parts = Object.entries(kinds).flatMap(([kind, [one, many]]) => {
    const number = entries.filter((entry) => entry.kind === kind).length;
    return number === 0 && kind === "other" ? [] : [count(number, one, many)];
  });
  const tree = `The tree of ${describePlace(scope)}, ${TREE_DEPTH} levels deep at most:`;
  const title = goal === "tree" ? tree : `${place} holds ${enumerate(parts)}:`;
  return paragraphs(title, fenced(text), leftOutSentence(listing));
}

function* planFolders({ scope, goal }: ListSlots): Plan {
  const listing = parseFolderListing((yield* call(listCall(scope, goal === "folders" ? 1 : DEEPEST))).text);
  const folders = listing.entries.filter((entry) => entry.kind === "folder");
  const direct = folders.flatMap(({ depth, name }) => (depth === 1 ? [`${name}/`] : []));
  const holds = `${describePlace(scope, "This folder")} holds ${count(direct.length, "folder")}`;
  if (goal === "folders") return paragraphs(`${holds}.`, bulleted(direct, SHOWN_PATHS), leftOutSentence(listing));
  return `${holds} directly and ${count(folders.length, "folder")} with those inside, ${DEEPEST} levels deep at most and without the inside of ignored folders.`;
}

function leftOutSentence({ leftOut }: FolderListing): string | undefined {
  if (leftOut === 0) return undefined;
  return `${count(leftOut, "more entry is", "more entries are")} not listed: one listing has a limit.`;
}

function* planFiles(slots: ListSlots): Plan {
  const list = parsePaths((yield* call(filesCall(slots))).text);
  const place = describePlace(slots.scope);
  if (list.paths.length === 0) return `There is no ${describeWanted(slots)[0]} in ${place}. ${NOT_COUNTED}`;
  return paragraphs(
    `${total(list, describeWanted(slots))} in ${place}:`,
    bulleted(list.paths, SHOWN_PATHS),
    list.cut && `The listing has only the first ${list.paths.length} of them.`,
    NOT_COUNTED,
  );
}

function* planFileCount(slots: ListSlots): Plan {
  const list = parsePaths((yield* call(filesCall(slots))).text);
  const kinds = slots.scope.kind === undefined ? "" : ` (${slots.scope.kind.names.join(", ")})`;
  const verb = totalOf(list) === 1 ? "is" : "are";
  return `There ${verb} ${total(list, describeWanted(slots))} in ${describePlace(slots.scope)}${kinds}. ${NOT_COUNTED}`;
}

function filesCall({ scope, name }: ListSlots) {
  const isDocument = /^(?:readme|licen[cs]e|changelog|contributing)$/i.test(name ?? "");
  if (name !== undefined) return globCall(isDocument ? documentGlob(name) : cleanPath(name), scope);
  return globCall(scope.kind === undefined ? "**/*" : eitherOf(scope.kind.names), scope);
}

type Noun = readonly [one: string, many: string];

function describeWanted({ scope, name }: ListSlots): Noun {
  if (name !== undefined) return [`file named ${code(name)}`, `files named ${code(name)}`];
  const kind = scope.kind === undefined ? "" : `${scope.kind.label} `;
  return [`${kind}file`, `${kind}files`];
}

function totalOf({ paths, cut }: PathList): number | undefined {
  return cut === undefined ? paths.length : cut.total;
}

function total(list: PathList, noun: Noun): string {
  const number = totalOf(list);
  return number === undefined ? `at least ${count(list.paths.length, ...noun)}` : count(number, ...noun);
}

function* planByExtension(slots: ListSlots): Plan {
  const { scope } = slots;
  const list = parsePaths((yield* call(filesCall(slots))).text);
  if (list.paths.length === 0) return `There are no files in ${describePlace(scope)}. ${NOT_COUNTED}`;
  const listed = tally(list.paths.map((path) => /[^/](\.[^./]+)$/.exec(path)?.[1] ?? "(none)"));
  // One listing cannot hold them all, so a separate call counts each of the most frequent extensions.
  const asked =
    list.cut === undefined ? [] : listed.map(([extension]) => extension).filter((each) => each !== "(none)");
  const facts = yield asked.slice(0, EXACT_EXTENSIONS).map((extension) => globCall(`*${extension}`, scope));
  const exact = facts.map(({ text }, index) => [asked[index] ?? "", totalOf(parsePaths(text)) ?? 0] as const);
  const others = (totalOf(list) ?? 0) - exact.reduce((sum, [, number]) => sum + number, 0);
  const rest = others > 0 ? [["all others", others] as const] : [];
  const rows = list.cut === undefined ? listed : [...ranked(exact), ...rest];
  return paragraphs(`${total(list, ["file", "files"])} in ${describePlace(scope)}:`, numbers(rows), NOT_COUNTED);
}

/** A line of `find -ls`: the size is the seventh column, the path the last. */
const FOUND = /^\s*(?:\S+\s+){6}(?<size>\d+)\s+\S+\s+\S+\s+\S+\s+(?:\.\/)?(?<path>.+)$/;

/** No read tool reports sizes, so this runs a command. It leaves out files that are not the project's own. */
function* planLargest({ scope, most = 10 }: ListSlots): Plan {
  const { path = ".", kind } = scope;
  const folder = readableShellWord(path.startsWith("-") ? `./${path}` : path);
  const names = kind?.names.map((name) => `-name ${readableShellWord(name)}`).join(" -o ");
  const filter = `-not -path '*/.git/*' -not -path '*/node_modules/*'${names === undefined ? "" : ` \\( ${names} \\)`}`;
  // `-ls` only reads, so it runs without asking.
  const command = `find ${folder} -type f ${filter} -ls | sort -k7,7nr | head -n ${most}`;
  const { output, exitCode, ending } = parseCommandOutput(
    yield* call({ tool: "bash", args: { command }, mayFail: true }),
  );
  const rows = output.split("\n").flatMap((row) => {
    const { size, path: found = "" } = FOUND.exec(row)?.groups ?? {};
    return size === undefined ? [] : [[found, Number(size)] as const];
  });
  // The command continues when a folder is missing, and only prints a message.
  if (exitCode !== 0 || (rows.length === 0 && output.trim() !== ""))
    return paragraphs(`The sizes could not be found: ${ending}.`, fenced(output || "(no output)"));
  if (rows.length === 0) return `There are no files in ${describeScope(scope)}.`;
  const largest = rows.length === 1 ? "largest file" : `${rows.length} largest files`;
  return paragraphs(
    `The ${largest} in ${describeScope(scope)}, in bytes:`,
    numbers(rows),
    "Folders named .git and node_modules were left out; other ignored files were not.",
  );
}

export const matchList = phraseIntent<ListSlots>({
  name: "list",
  phrases,
  read: readSlots,
  plan: (slots) => PLANS[slots.goal](slots),
});
