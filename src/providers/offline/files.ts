/** Files that a request names: which one is meant, and its text. */
import { documentGlob, globCall, readCall } from "./calls.js";
import { type FileText, parseFileText } from "./outputs/file-text.js";
import { parsePaths } from "./outputs/search-output.js";
import { call, type Steps, type ToolFact } from "./plan.js";
import type { RequestText } from "./request-text.js";
import { cleanPath, looksLikeFile, looksLikePath } from "./scope.js";
import { code, fenced, paragraphs } from "./wording.js";

export interface NamedFile {
  readonly path: string;
  /** A name without a folder or an extension ("the readme"): the plan searches for the file. */
  readonly lookUp?: true;
}

const DOCUMENTS = /^(?:readme|licen[cs]e|changelog|contributing|makefile|dockerfile)$/i;

/** The file or folder that a slot names, if any. */
export function namedPath(slot: string | undefined, request: RequestText): NamedFile | undefined {
  const { value, quoted } = request.term(slot ?? "");
  if (value === "" || value.includes("\n")) return undefined;
  if (!quoted && DOCUMENTS.test(value)) return { path: value, lookUp: true };
  // Only inside quotes may a file name hold spaces.
  const meant = looksLikePath(quoted ? value.trim().replaceAll(" ", "_") : value) && !value.endsWith("/");
  return meant ? { path: cleanPath(value) } : undefined;
}

/** The same, but only for a name that looks like a file. */
export function namedFile(slot: string | undefined, request: RequestText): NamedFile | undefined {
  const named = namedPath(slot, request);
  return named?.lookUp || looksLikeFile((named?.path ?? "").replaceAll(" ", "_")) ? named : undefined;
}

/** The file nearest to the top, text files first, then by name; undefined if there is none. */
export function* lookUpDocument(name: string): Steps<string | undefined> {
  const { paths } = parsePaths((yield* call(globCall(documentGlob(name)))).text);
  const rank = (path: string): number =>
    path.split("/").length * 2 + (/(?:\.md|\.txt|\.rst|\/[^./]+|^[^./]+)$/i.test(path) ? 0 : 1);
  return [...paths].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))[0];
}

export interface NamedText extends FileText {
  readonly path: string;
}

/** The text of a file, or the failed call, or an answer that explains why there is no text. */
export function* tryReadText({ path: named, lookUp }: NamedFile, part = {}): Steps<NamedText | ToolFact | string> {
  const path = lookUp ? yield* lookUpDocument(named) : named;
  if (path === undefined) return `There is no ${named.toUpperCase()} file in this project.`;
  const fact = yield* call({ ...readCall(path, part), mayFail: true });
  if (fact.failed) return fact;
  const text = parseFileText(fact.text);
  return text.notText === undefined ? { ...text, path } : `${code(path)} is not text: ${text.notText}`;
}

/** The text of a file, or an answer that explains why there is none. */
export function* readText(file: NamedFile, part = {}): Steps<NamedText | string> {
  const read = yield* tryReadText(file, part);
  return typeof read !== "string" && "failed" in read ? unreadable(file.path, read) : read;
}

export function unreadable(path: string, fact: ToolFact): string {
  return paragraphs(`${code(path)} could not be read:`, fenced(fact.text.trim()));
}
