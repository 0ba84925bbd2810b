/** What this project is, from facts that can be looked up. */

import type { JsonObject } from "../../../protocol/json.js";
import { globCall, listCall } from "../calls.js";
import { declaredIn } from "../declared.js";
import { KINDS } from "../ecosystems.js";
import { labelOfFile } from "../file-kinds.js";
import type { Intent } from "../intent.js";
import type { FileText } from "../outputs/file-text.js";
import { parseFolderListing } from "../outputs/folder-listing.js";
import { parsePaths } from "../outputs/search-output.js";
import phrases from "../phrases/project.txt";
import { PhraseBook } from "../phrases.js";
import type { Plan } from "../plan.js";
import { parseManifest, readTogether, stringEntries } from "../project-files.js";
import type { RequestText } from "../request-text.js";
import { bulleted, code, count, enumerate, fenced, paragraphs } from "../wording.js";

export interface ProjectSlots {
  readonly question: "summary";
}

const PHRASES = new PhraseBook(phrases);

export function parseProject(request: RequestText): ProjectSlots | undefined {
  return PHRASES.matches(request.text).next().done ? undefined : { question: "summary" };
}

const README = /^readme(?:\.(?:md|markdown|txt|rst))?$/i;
export function* planProject(): Plan {
  const [listFact, globFact] = yield [listCall({}), globCall("**/*")];
  const { entries } = parseFolderListing(listFact?.text ?? "");
  const names = entries.map((entry) => entry.name);
  const readme = names.filter((name) => README.test(name)).sort()[0];
  const texts = yield* readTogether([
    ...["package.json", "Cargo.toml", "pyproject.toml", "go.mod"].filter((name) => names.includes(name)),
    ...(readme === undefined ? [] : [readme]),
  ]);
  const facts = [
    ...nameFacts(texts),
    ...kindFacts(names),
    fileFact(globFact?.text ?? ""),
    ...folderFacts(entries.filter((entry) => entry.kind === "folder").map((entry) => entry.name)),
    ...scriptFacts(parseManifest(texts.get("package.json"))),
  ];
  const opening = readme === undefined ? undefined : firstParagraph(texts.get(readme));
  return paragraphs(
    "Facts found in the project's own files (nothing here is judged or understood):",
    bulleted(facts, facts.length),
    opening === undefined ? undefined : paragraphs(`${code(readme ?? "")} begins:`, fenced(opening)),
  );
}

/** The first file that tells counts. */
function nameFacts(texts: ReadonlyMap<string, FileText>): readonly string[] {
  const told = (question: string) => declaredIn(question, texts)[0];
  const [name, version, description, licence] = ["name", "release", "description", "licence"].map(told);
  const named = [name?.value, version?.value].filter((part) => part !== undefined).join(" ");
  return [
    ...(named === "" ? [] : [`name: ${named} (${name?.file ?? version?.file})`]),
    ...(description === undefined ? [] : [`description: ${description.value} (${description.file})`]),
    ...(licence === undefined ? [] : [`licence: ${licence.value} (${licence.file})`]),
  ];
}

function kindFacts(names: readonly string[]): readonly string[] {
  const found = KINDS.filter(({ file }) => names.includes(file));
  const kinds = enumerate([...new Set(found.map(({ kind }) => kind))]);
  return found.length === 0 ? [] : [`it looks like ${kinds} (${found.map(({ file }) => file).join(", ")})`];
}

function fileFact(text: string): string {
  const { paths, cut } = parsePaths(text);
  const total = cut === undefined ? paths.length : cut.total;
  const counts = new Map<string, number>();
  for (const path of paths) {
    const label = labelOfFile(path);
    if (label !== undefined) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  const top = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 6);
  const among = cut === undefined ? "" : `; among the first ${paths.length}`;
  const kinds = top.map(([label, number]) => `${number} ${label}`).join(", ");
  const number = total === undefined ? `at least ${count(paths.length, "file")}` : count(total, "file");
  return `${number}, not counting ignored ones${kinds === "" ? "" : `${among}: ${kinds}`}`;
}

function folderFacts(folders: readonly string[]): readonly string[] {
  const shown = folders.filter((name) => name !== ".git" && name !== "node_modules");
  return shown.length === 0
    ? []
    : [`folders at the top: ${shown.slice(0, 20).join(", ")}${shown.length > 20 ? ", …" : ""}`];
}

function scriptFacts(manifest: JsonObject | undefined): readonly string[] {
  const scripts = stringEntries(manifest?.scripts).map(([name]) => name);
  const dependencies = stringEntries(manifest?.dependencies).length;
  const development = stringEntries(manifest?.devDependencies).length;
  return [
    ...(scripts.length === 0 ? [] : [`scripts: ${scripts.join(", ")} (package.json)`]),
    ...(manifest === undefined
      ? []
      : [`dependencies: ${dependencies} to run, ${development} to develop (package.json)`]),
  ];
}

const LONGEST_PARAGRAPH = 12;

/** The first prose of a text: no headings, badges, HTML or lists of links. */
export function firstParagraph(text: FileText | undefined): string | undefined {
  const lines = text?.lines.map((line) => line.text) ?? [];
  const isProse = (line: string) =>
    line.trim() !== "" &&
    !/^\s*(?:#|<|\[!|!\[|---|===|```|\||\[[^\]]+\]:)/.test(line) &&
    !/^[=-]{3,}$/.test(line.trim());
  const from = lines.findIndex((line, index) => isProse(line) && !/^[=-]{3,}$/.test((lines[index + 1] ?? "").trim()));
  if (from === -1) return undefined;
  const length = lines.slice(from).findIndex((line) => line.trim() === "");
  return lines.slice(from, from + Math.min(length === -1 ? LONGEST_PARAGRAPH : length, LONGEST_PARAGRAPH)).join("\n");
}

export const projectIntent: Intent<ProjectSlots> = { name: "project", parse: parseProject, plan: planProject };
