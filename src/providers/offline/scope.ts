/** The files that a request is about: "in src", "in all Markdown files", "under the src/engine folder", "here". */
import { type FileKind, findFileKind, KIND_WORDS } from "./file-kinds.js";
import type { RequestText } from "./request-text.js";

export interface Scope {
  /** Absent: the whole project. */
  readonly path?: string;
  readonly kind?: FileKind;
}

export const WHOLE_PROJECT: Scope = {};

const EVERYWHERE =
  /^(?:project|repo|repository|folder|directory|dir|code ?base|code|workspace|source code|tree|working (?:tree|directory)|checkout|files?|project files|source files|here|there|everything|everywhere|anything|total|all|place|package|root|project root|root folder|root directory|top[- ]level|\.|\.\/)$/i;

const DETERMINERS = /^(?:(?:all|any|every|each|of|the|this|that|these|our|my|your|whole|entire|current|complete) +)+/i;

const KIND_SCOPE = new RegExp(
  `^(${KIND_WORDS})(?: +source)? +(?:files?|code|sources?|documents?|docs?|ones)(?: +(?:in|inside|within|under|of|from|at) +(.+))?$`,
  "i",
);

const FOLDER_WORD = "(?:sub)?(?:folder|director(?:y|ies)|dir|file|module|path)";
const FOLDER_FIRST = new RegExp(`^${FOLDER_WORD}(?: +(?:called|named))? +(\\S+)$`, "i");
const FOLDER_LAST = new RegExp(`^(\\S+) +${FOLDER_WORD}$`, "i");

/** The scope that the words after "in" name, or undefined if the rules do not understand them: a guess could give a wrong answer. */
export function parseScope(words: string, request: RequestText): Scope | undefined {
  const rest = words.trim().replace(DETERMINERS, "");
  if (rest === "" || EVERYWHERE.test(rest)) return WHOLE_PROJECT;
  const kindMatch = KIND_SCOPE.exec(rest);
  if (kindMatch !== null) {
    const kind = findFileKind(kindMatch[1] ?? "");
    const inner = kindMatch[2] === undefined ? WHOLE_PROJECT : parseScope(kindMatch[2], request);
    return kind === undefined || inner === undefined ? undefined : { ...inner, kind };
  }
  const pattern = findFileKind(rest);
  if (rest.startsWith("*.")) return pattern && { kind: pattern };
  const path = FOLDER_FIRST.exec(rest)?.[1] ?? FOLDER_LAST.exec(rest)?.[1] ?? (/^\S+$/.test(rest) ? rest : undefined);
  if (path === undefined) return undefined;
  const { value } = request.term(path);
  return value === "" || value.includes("\n") ? undefined : { path: cleanPath(value) };
}

/** `./src/` and `src` are the same place; `.` is the project itself. */
export function cleanPath(path: string): string {
  const cleaned = path.replace(/^(?:\.\/)+(?=.)/, "").replace(/(?<=[^/])\/+$/, "");
  return cleaned === "" ? "." : cleaned;
}

export function describePlace({ path }: Scope, whole = "this project"): string {
  return path === undefined || path === "." ? whole : `\`${path}\``;
}

export function describeScope(scope: Scope): string {
  return `${scope.kind === undefined ? "" : `${scope.kind.label} files of `}${describePlace(scope)}`;
}

const KNOWN_NAMES =
  /^(?:makefile|gnumakefile|dockerfile|containerfile|licen[cs]e|readme|changelog|contributing|authors|notice|copying|procfile|gemfile|rakefile|justfile|vagrantfile|jenkinsfile|codeowners|version)$/i;

/** Whether an unquoted word means a file or folder rather than text to search for. */
export function looksLikePath(word: string): boolean {
  if (/[\s*?]/.test(word) || word.includes("://")) return false;
  if (/^\.{0,2}\/./.test(word) || /[^/]\/[^/]/.test(word) || /\w\/$/.test(word)) return true;
  return looksLikeFile(word);
}

/** A name with an extension, a dot file, or one of the names that have neither. */
export function looksLikeFile(word: string): boolean {
  if (/[\s*?]/.test(word) || word.endsWith("/")) return false;
  const name = word.slice(word.lastIndexOf("/") + 1);
  if (KNOWN_NAMES.test(name) || /^\.[a-z][\w.-]+$/i.test(name)) return true;
  // "e.g", "v1.2" and "a.b()" are not files; "x.c" and "main.test.ts" are.
  return /^[\w@+~-][\w@+~. -]*\.[a-z][a-z0-9_]{0,9}$/i.test(name) && !/^(?:e\.g|i\.e)$/i.test(name);
}
