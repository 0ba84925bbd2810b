/** What a project's own files declare: its name, its scripts, how its tests are run. */
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { listCall, readCall } from "./calls.js";
import { type FileText, joinedText, parseFileText } from "./outputs/file-text.js";
import { parseFolderListing } from "./outputs/folder-listing.js";
import { call, type Steps } from "./plan.js";

export interface Project {
  /** Names in the top folder. */
  readonly names: readonly string[];
  readonly texts: ReadonlyMap<string, FileText>;
}

/** The names in the top folder, and the texts of those that `wanted` selects. */
export function* readProject(wanted: (names: readonly string[]) => readonly string[]): Steps<Project> {
  const { entries } = parseFolderListing((yield* call(listCall({}))).text);
  const names = entries.map((entry) => entry.name);
  return { names, texts: yield* readTogether(wanted(names)) };
}

/** Some files of the top folder at once; one that cannot be read is left out. */
export function* readTogether(paths: readonly string[]): Steps<ReadonlyMap<string, FileText>> {
  const facts = yield paths.map((path) => ({ ...readCall(path), mayFail: true as const }));
  const texts = facts.map(({ text }, index) => [paths[index] ?? "", parseFileText(text)] as const);
  return new Map(texts.filter((_text, index) => facts[index]?.failed === false));
}

/** Undefined if the text is cut or is not a JSON object: half a file must not pass as all of it. */
export function parseManifest(text: FileText | undefined): JsonObject | undefined {
  if (text?.whole !== true) return undefined;
  try {
    const value: unknown = JSON.parse(joinedText(text));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The entries of an object of strings, such as `scripts`. */
export function stringEntries(value: unknown): readonly (readonly [string, string])[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (typeof inner === "string" ? [[key, inner] as const] : []));
}

const LOCK_FILES = { "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun" };

export function packageRunner(names: readonly string[]): string {
  return Object.entries(LOCK_FILES).find(([file]) => names.includes(file))?.[1] ?? "npm";
}

export function makeTargets(text: FileText | undefined): readonly string[] {
  return (text?.lines ?? []).flatMap(
    ({ text: line }) => /^([\w./-]+(?: [\w./-]+)*)\s*::?(?!=)/.exec(line)?.[1]?.split(" ") ?? [],
  );
}
