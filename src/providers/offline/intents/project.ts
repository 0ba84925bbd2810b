/** What this project is, from facts that can be looked up. */
import { globCall, listCall } from "../calls.js";
import { declaredIn } from "../declared.js";
import { KINDS, packageScripts } from "../ecosystems.js";
import { labelOfFile } from "../file-kinds.js";
import { phraseIntent } from "../intent.js";
import type { FileText } from "../outputs/file-text.js";
import { parseFolderListing } from "../outputs/folder-listing.js";
import { parsePaths } from "../outputs/search-output.js";
import phrases from "../phrases/project.txt";
import type { Plan } from "../plan.js";
import { readTogether } from "../project-files.js";
import { bulleted, code, count, enumerate, fenced, paragraphs, tally } from "../wording.js";

const README = /^readme(?:\.(?:md|markdown|txt|rst))?$/i;
const MANIFESTS = ["package.json", "Cargo.toml", "pyproject.toml", "go.mod"];

function* planProject(): Plan {
  const [listFact, globFact] = yield [listCall({}), globCall("**/*")];
  const { entries } = parseFolderListing(listFact?.text ?? "");
  const names = entries.map((entry) => entry.name);
  const readme = names.filter((name) => README.test(name)).sort()[0];
  const wanted = [...MANIFESTS.filter((name) => names.includes(name)), ...(readme === undefined ? [] : [readme])];
  const texts = yield* readTogether(wanted);
  const folders = entries.filter(({ kind, name }) => kind === "folder" && !/^(?:\.git|node_modules)$/.test(name));
  const scripts = packageScripts({ names, texts });
  const facts = [
    ...nameFacts(texts),
    kindFact(names),
    fileFact(globFact?.text ?? ""),
    namesFact(
      "folders at the top",
      folders.map(({ name }) => name),
    ),
    namesFact(
      "scripts of package.json",
      scripts.map(([name]) => name),
    ),
  ].filter((fact) => fact !== undefined);
  const opening = firstParagraph(texts.get(readme ?? ""));
  return paragraphs(
    "Facts found in the project's own files (rules, no judgement):",
    bulleted(facts, facts.length),
    opening && paragraphs(`${code(readme ?? "")} begins:`, fenced(opening)),
  );
}

/** The first file with such a fact wins. */
function nameFacts(texts: ReadonlyMap<string, FileText>): readonly (string | undefined)[] {
  const declared = (question: string) => declaredIn(question, texts)[0];
  const [name, version, description, licence] = ["name", "release", "description", "licence"].map(declared);
  const named = [name?.value, version?.value].filter((part) => part !== undefined).join(" ");
  return [
    named === "" ? undefined : `name: ${named} (${name?.file ?? version?.file})`,
    description && `description: ${description.value} (${description.file})`,
    licence && `licence: ${licence.value} (${licence.file})`,
  ];
}

function kindFact(names: readonly string[]): string | undefined {
  const found = KINDS.filter(({ file }) => names.includes(file));
  const kinds = enumerate([...new Set(found.map(({ kind }) => kind))]);
  return found.length === 0 ? undefined : `it looks like ${kinds} (${found.map(({ file }) => file).join(", ")})`;
}

function fileFact(text: string): string {
  const { paths, cut } = parsePaths(text);
  const total = cut === undefined ? paths.length : cut.total;
  const top = tally(paths.map(labelOfFile).filter((label) => label !== undefined)).slice(0, 6);
  const among = cut === undefined ? "" : `; among the first ${paths.length}`;
  const kinds = top.map(([label, number]) => `${number} ${label}`).join(", ");
  const number = total === undefined ? `at least ${count(paths.length, "file")}` : count(total, "file");
  return `${number}, not counting ignored ones${kinds === "" ? "" : `${among}: ${kinds}`}`;
}

function namesFact(label: string, names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `${label}: ${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
}

const LONGEST_PARAGRAPH = 12;
const NOT_PROSE = /^\s*(?:$|#|<|\[!|!\[|---|===|```|\||\[[^\]]+\]:)/;

/** The first prose of a text: no headings, badges, HTML or lists of links. */
export function firstParagraph(text: FileText | undefined): string | undefined {
  const lines = text?.lines.map((line) => line.text) ?? [];
  const isHeading = (index: number) => /^[=-]{3,}\s*$/.test(lines[index + 1] ?? "");
  const from = lines.findIndex((line, index) => !NOT_PROSE.test(line) && !isHeading(index));
  if (from === -1) return undefined;
  const rest = lines.slice(from, from + LONGEST_PARAGRAPH);
  const end = rest.findIndex((line) => line.trim() === "");
  return rest.slice(0, end === -1 ? rest.length : end).join("\n");
}

export const matchProject = phraseIntent({
  name: "project",
  phrases,
  read: () => ({ question: "summary" }),
  plan: planProject,
});
