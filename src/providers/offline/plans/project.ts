import type { JsonObject } from "../../../protocol/json.js";
import { globCall, listCall } from "../calls.js";
import { KINDS } from "../ecosystems.js";
import { labelOfFile } from "../file-kinds.js";
import type { FileText } from "../outputs/file-text.js";
import { parseFolderListing } from "../outputs/folder-listing.js";
import { parsePaths } from "../outputs/search-output.js";
import type { Plan } from "../plan.js";
import { parseManifest, readTogether, stringEntries } from "../project-files.js";
import { bulleted, code, count, enumerate, fenced, paragraphs } from "../wording.js";

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

function nameFacts(texts: ReadonlyMap<string, FileText>): readonly string[] {
  const manifest = parseManifest(texts.get("package.json"));
  if (manifest !== undefined) {
    const { name, version, description, license } = manifest;
    const named = [name, version].filter((part) => typeof part === "string").join(" ");
    return [
      ...(named === "" ? [] : [`name: ${named} (package.json)`]),
      ...(typeof description === "string" && description !== "" ? [`description: ${description} (package.json)`] : []),
      ...(typeof license === "string" ? [`licence: ${license} (package.json)`] : []),
    ];
  }
  for (const file of ["Cargo.toml", "pyproject.toml"]) {
    const value = (key: string) =>
      texts
        .get(file)
        ?.lines.map((line) => new RegExp(`^${key}\\s*=\\s*"(.*)"`).exec(line.text)?.[1])
        .find((found) => found !== undefined);
    const named = [value("name"), value("version")].filter((part) => part !== undefined).join(" ");
    const description = value("description");
    if (named !== "")
      return [
        `name: ${named} (${file})`,
        ...(description === undefined ? [] : [`description: ${description} (${file})`]),
      ];
  }
  const goModule = texts
    .get("go.mod")
    ?.lines.map((line) => /^module\s+(\S+)/.exec(line.text)?.[1])
    .find((found) => found !== undefined);
  return goModule === undefined ? [] : [`name: ${goModule} (go.mod)`];
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
