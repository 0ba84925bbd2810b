/** What a project's own files declare: its name, its scripts, how its tests are run. */
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { listCall, readCall } from "./calls.js";
import { type FileText, joinedText, parseFileText } from "./outputs/file-text.js";
import { parseFolderListing } from "./outputs/folder-listing.js";
import { call, type Steps } from "./plan.js";

/** Names in the top folder. */
export function* topNames(): Steps<readonly string[]> {
  const { entries } = parseFolderListing((yield* call(listCall({}))).text);
  return entries.map((entry) => entry.name);
}

/** Some files of the top folder at once; one that cannot be read is left out. */
export function* readTogether(paths: readonly string[]): Steps<ReadonlyMap<string, FileText>> {
  if (paths.length === 0) return new Map();
  const facts = yield paths.map((path) => ({ ...readCall(path), mayFail: true as const }));
  const texts = new Map<string, FileText>();
  facts.forEach((fact, index) => {
    const path = paths[index];
    if (path !== undefined && !fact.failed) texts.set(path, parseFileText(fact.text));
  });
  return texts;
}

/** Nothing when the text is cut or is no JSON object: half a file must not be taken for all of it. */
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

export function packageRunner(names: readonly string[]): string {
  if (names.includes("pnpm-lock.yaml")) return "pnpm";
  if (names.includes("yarn.lock")) return "yarn";
  if (names.includes("bun.lockb") || names.includes("bun.lock")) return "bun";
  return "npm";
}

export function makeTargets(text: FileText | undefined): readonly string[] {
  return (text?.lines ?? []).flatMap(
    ({ text: line }) => /^([\w./-]+(?: [\w./-]+)*)\s*::?(?!=)/.exec(line)?.[1]?.split(" ") ?? [],
  );
}
