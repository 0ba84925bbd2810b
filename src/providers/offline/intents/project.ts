/** Describes what the project's own files and its history declare, and the commands that it names: told, or run. */
import { readableShellWord } from "../../../base/shell-word.js";
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import commands from "../commands.txt";
import ecosystems from "../ecosystems.txt";
import factTable from "../facts.txt";
import { type Match, phraseIntent, readText } from "../intent.js";
import {
  type CommandOutput,
  type FileText,
  joinedText,
  parseCommandOutput,
  parseFileText,
  parseFolderListing,
  parseMatches,
  parsePaths,
} from "../outputs.js";
import factPhrases from "../phrases/facts.txt";
import projectPhrases from "../phrases/project.txt";
import runPhrases from "../phrases/run.txt";
import scriptPhrases from "../phrases/script.txt";
import { call, globCall, grep, listCall, type Plan, readCall, type Steps } from "../plan.js";
import type { RequestText } from "../request-text.js";
import { labelOfFile, rowsOf } from "../tables.js";
import { namedPath } from "../terms.js";
import { bulleted, code, count, enumerate, fenced, numbers, paragraphs, tally } from "../wording.js";
import { total } from "./files.js";
import { askGit, gitFailed } from "./git.js";

/* ---- the project's files ---- */

interface Project {
  /** Names in the top folder. */
  readonly names: readonly string[];
  readonly texts: ReadonlyMap<string, FileText>;
}

/** Reads the names in the top folder, and the texts of those that are `wanted`. */
function* readProject(wanted: readonly string[]): Steps<Project> {
  const { entries } = parseFolderListing((yield* call(listCall({}))).text);
  const names = entries.map((entry) => entry.name);
  return { names, texts: yield* readTogether(wanted.filter((name) => names.includes(name)).slice(0, 10)) };
}

/** Reads some files of the top folder at once; one that cannot be read is left out. */
function* readTogether(paths: readonly string[]): Steps<ReadonlyMap<string, FileText>> {
  const facts = yield paths.map((path) => readCall(path));
  const texts = facts.map(({ text }, index) => [paths[index] ?? "", parseFileText(text)] as const);
  return new Map(texts.filter((_text, index) => facts[index]?.failed === false));
}

/** Reads JSON; nothing if the text is cut or is no object: half a file must not pass as all of it. */
function parseManifest(text: FileText | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text?.whole ? joinedText(text) : "");
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Lists the entries of an object of strings, such as `scripts`. */
function stringEntries(value: unknown): readonly (readonly [string, string])[] {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  return entries.flatMap(([key, inner]) => (typeof inner === "string" ? [[key, inner] as const] : []));
}

function packageScripts({ texts }: Project): readonly (readonly [string, string])[] {
  return stringEntries(parseManifest(texts.get("package.json"))?.scripts);
}

interface Declared {
  readonly file: string;
  /** ` (scripts)`, if the fact is in a part of the file. */
  readonly part: string;
  /** One line, or a list. */
  readonly value: string;
}

const FACTS = rowsOf(factTable);

/** Finds what the files declare to a question, by the table of facts. */
function declaredIn(question: string, texts: ReadonlyMap<string, FileText>): readonly Declared[] {
  return FACTS.filter(([name]) => name === question).flatMap(([, kind = "", file = "", part = ""]) => {
    const text = texts.get(file);
    const value = text === undefined ? "" : declared(text, kind, part);
    return value === "" ? [] : [{ file, value, part: kind === "field" ? ` (${part})` : "" }];
  });
}

function declared(text: FileText, kind: string, part: string): string {
  if (kind === "there") return part;
  const listed = (items: readonly string[]) => bulleted(items.filter(Boolean), 100);
  if (kind === "field") {
    let value: unknown = parseManifest(text);
    for (const key of part.split(".")) value = (value as JsonObject | undefined)?.[key];
    if (typeof value === "string") return value;
    return listed(stringEntries(value).map(([name, each]) => `${code(name)}: ${each}`));
  }
  const match = new RegExp(part, "m").exec(joinedText(text))?.[1]?.trim() ?? "";
  return kind === "line" ? match : listed(match.split("\n").map((line) => line.trim()));
}

const NOT_PROSE = /^\s*(?:$|#|<|\[!|!\[|---|===|```|\||\[[^\]]+\]:)/;

/** Finds the first prose of a text, 12 lines at most: no headings, badges, HTML or lists of links. */
function firstParagraph(text: FileText | undefined): string | undefined {
  const lines = text?.lines.map((line) => line.text) ?? [];
  const isHeading = (index: number) => /^[=-]{3,}\s*$/.test(lines[index + 1] ?? "");
  const from = lines.findIndex((line, index) => !NOT_PROSE.test(line) && !isHeading(index));
  const rest = from === -1 ? [] : lines.slice(from, from + 12);
  const end = rest.findIndex((line) => line.trim() === "");
  return rest.slice(0, end === -1 ? rest.length : end).join("\n") || undefined;
}

/* ---- the project as a whole ---- */

export const matchProject = phraseIntent({
  name: "project",
  phrases: projectPhrases,
  read: () => ({ question: "summary" }),
  plan: planProject,
});

const ECOSYSTEMS = rowsOf(ecosystems);

function* planProject(): Plan {
  const [listFact, globFact] = yield [listCall({}), globCall("**/*")];
  const { entries } = parseFolderListing(listFact?.text ?? "");
  const names = entries.map((entry) => entry.name);
  const readme = names.filter((name) => /^readme(?:\.(?:md|markdown|txt|rst))?$/i.test(name)).sort()[0];
  const manifests = ["package.json", "Cargo.toml", "pyproject.toml", "go.mod"].filter((name) => names.includes(name));
  const texts = yield* readTogether(readme === undefined ? manifests : [...manifests, readme]);
  const folders = entries.filter(({ kind, name }) => kind === "folder" && !/^(?:\.git|node_modules)$/.test(name));
  // The first file with such a fact wins.
  const fact = (question: string) => declaredIn(question, texts)[0];
  const [name, version, description, licence] = ["name", "release", "description", "licence"].map(fact);
  const found = ECOSYSTEMS.filter(([file = "", kind = ""]) => kind.trim() !== "" && names.includes(file));
  const kinds = enumerate([...new Set(found.map(([, kind = ""]) => kind))]);
  const list = parsePaths(globFact?.text ?? "");
  const top = tally(list.paths.map(labelOfFile).filter((label) => label !== undefined)).slice(0, 6);
  const among = list.cut === undefined ? "" : `; among the first ${list.paths.length}`;
  const shares = top.map(([label, number]) => `${number} ${label}`).join(", ");
  const named = (label: string, of: readonly string[]) =>
    of.length > 0 && `${label}: ${of.slice(0, 20).join(", ")}${of.length > 20 ? ", …" : ""}`;
  const facts = [
    (name ?? version) &&
      `name: ${[name, version]
        .map((each) => each?.value ?? "")
        .join(" ")
        .trim()} (${(name ?? version)?.file})`,
    description && `description: ${description.value} (${description.file})`,
    licence && `licence: ${licence.value} (${licence.file})`,
    found.length > 0 && `it looks like ${kinds} (${found.map(([file]) => file).join(", ")})`,
    `${total(list)}, not counting ignored ones${shares === "" ? "" : `${among}: ${shares}`}`,
    named(
      "folders at the top",
      folders.map((entry) => entry.name),
    ),
    named(
      "scripts of package.json",
      packageScripts({ names, texts }).map(([script]) => script),
    ),
  ].filter((each) => typeof each === "string");
  const opening = firstParagraph(texts.get(readme ?? ""));
  return paragraphs(
    "Facts found in the project's own files (rules, no judgement):",
    bulleted(facts, facts.length),
    opening && paragraphs(`${code(readme ?? "")} begins:`, fenced(opening)),
  );
}

/* ---- how to test, build and run it ---- */

interface HowTo {
  readonly command: string;
  /** The file that declares it. */
  readonly because: string;
}

/** Files that declare scripts, read when they are there. */
const DECLARING = "package.json deno.json Makefile makefile pyproject.toml setup.cfg tox.ini composer.json".split(" ");

/** Finds the script that another word for it means. */
function scriptName(word: string): string {
  const lower = word.toLowerCase();
  const pairs = "lint=lint format=format check=check type=typecheck bench=bench compile=build dev=dev".split(" ");
  const found = pairs.map((pair) => pair.split("=")).find(([beginning = ""]) => lower.startsWith(beginning));
  return found?.[1] ?? lower;
}

/** Finds the commands for a script, the most certain first. */
function findHowTo(project: Project, script: string): readonly HowTo[] {
  const { names, texts } = project;
  const found = [...fromPackage(project, script)];
  // By the table: `script [word that the file must hold]: command`, separated by `; `.
  for (const [file = "", , cell = ""] of ECOSYSTEMS.filter(([name = ""]) => names.includes(name))) {
    for (const [, name, word, command = ""] of cell.matchAll(/(\w+)(?: \[(\w+)\])?: (.+?)(?:; |$)/g)) {
      const holds = word === undefined || texts.get(file)?.lines.some(({ text }) => text.includes(word));
      const because = word === undefined ? `there is a ${file}` : `${file} mentions ${word}`;
      if (name === script && holds) found.push({ command, because });
    }
  }
  const rules = (texts.get("Makefile") ?? texts.get("makefile"))?.lines ?? [];
  const target = /^([\w./-]+(?: [\w./-]+)*)\s*::?(?!=)/;
  if (rules.some(({ text }) => target.exec(text)?.[1]?.split(" ").includes(script)))
    found.push({ command: `make ${readableShellWord(script)}`, because: `the Makefile has a target ${script}` });
  return found.filter(({ command }, index) => found.findIndex((other) => other.command === command) === index);
}

const RUNNERS = { "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun" };

function fromPackage(project: Project, script: string): readonly HowTo[] {
  const runner = Object.entries(RUNNERS).find(([file]) => project.names.includes(file))?.[1] ?? "npm";
  if (script === "install" && project.names.includes("package.json"))
    return [{ command: `${runner} install`, because: "there is a package.json" }];
  const body = packageScripts(project).find(([name]) => name === script)?.[1];
  // `npm init` writes "no test specified" when there are no tests.
  if (body === undefined || body.includes("no test specified")) return [];
  const run = script === "test" || script === "start" ? "" : "run ";
  return [{ command: `${runner} ${run}${readableShellWord(script)}`, because: `package.json: ${body}` }];
}

/* ---- questions that one lookup answers: `facts.txt` lists the file of each answer ---- */

interface FactSlots {
  readonly question: string;
  /** Of `howto`: test, build, install … Of `version`: the language. Of `readme`: a document by its path. */
  readonly subject?: string | undefined;
}

export const matchFact = phraseIntent<FactSlots>({
  name: "fact",
  phrases: factPhrases,
  read({ meaning: question, traits, slots }, request) {
    const language = slots.language
      ?.toLowerCase()
      .replace(/^golang$/, "go")
      .replace(/^node\.?js$/, "node");
    const script = traits.script === "$" ? slots.script : traits.script;
    const subject = language ?? namedPath(slots.file, request)?.path;
    return { question, subject: script === undefined ? subject : scriptName(script) };
  },
  plan: planFact,
});

const MOST_LINES = 60;

function* planFact({ question, subject = "" }: FactSlots): Plan {
  if (question === "howto") return yield* planHowTo(subject);
  if (question === "readme") return yield* planDocument(subject);
  const isVersion = question === "version";
  const rows = FACTS.filter(([name]) => name === (isVersion ? subject : question));
  const [first = []] = rows;
  if (first[1] === "log") return yield* planHistory(first);
  if (first[1] === "lines" || first[1] === "names") return yield* planSearch(first);
  const what = isVersion ? `the version of ${subject}` : `what this project's ${question} is`;
  const sources = [...new Set(rows.map(([, , file = ""]) => file))];
  const { names, texts } = yield* readProject(sources);
  const files = sources.filter((file) => names.includes(file)).slice(0, 10);
  if (files.length === 0)
    return `I did not find ${what}. There is no ${sources[0]} in this folder, nor another file that has this.`;
  const found = declaredIn(isVersion ? subject : question, texts).map(({ file, part, value }) =>
    value.startsWith("- ") ? paragraphs(`${file}${part}:`, value) : `${value}, says ${file}.`,
  );
  const verb = files.length === 1 ? "does" : "do";
  return paragraphs(...found) || `I did not find ${what}: ${enumerate(files)} ${verb} not have it.`;
}

function* planSearch([, kind, pattern = "", label = "", none = ""]: readonly string[]): Plan {
  const { files, cut } = parseMatches(yield* grep(pattern, {}, { mode: "content", limit: 500 }));
  const lines = files.flatMap(({ path, lines: found }) => found.map((line) => ({ path, ...line })));
  if (lines.length === 0) return none;
  let shown = lines.map(({ path, line, text }) => `${path}:${line}: ${text.trim()}`);
  if (kind === "names") {
    const places = new Map<string, Set<string>>();
    for (const { path, text } of lines) {
      for (const match of text.matchAll(new RegExp(pattern, "g"))) {
        const name = match.slice(1).find((group) => group !== undefined) ?? match[0];
        places.set(name, (places.get(name) ?? new Set()).add(path));
      }
    }
    const rows = [...places].sort(([a], [b]) => (a < b ? -1 : 1));
    shown = rows.map(([name, paths]) => `${code(name)} (${[...paths].slice(0, 3).join(", ")})`);
  }
  return paragraphs(`${label}: ${cut === undefined ? "" : "at least "}${shown.length}.`, bulleted(shown, MOST_LINES));
}

function* planHistory([, , args = "", manner, words = ""]: readonly string[]): Plan {
  const answer = yield* askGit(
    "log",
    args.split(" ").map((word) => word.replaceAll("_", " ")),
  );
  if (answer.failed) return gitFailed("log", answer);
  const lines = answer.text.split("\n").filter((line) => line !== "" && !line.startsWith("[… "));
  if (lines.length === 0) return "There are no commits.";
  const cut = /^\[… /m.test(answer.text) && "The history is longer than one listing shows.";
  if (manner === "counted") return paragraphs(`${count(lines.length, words)}.`, cut);
  if (manner === "shown") return paragraphs(words, fenced(lines.join("\n")), cut);
  if (manner === "listed") return paragraphs(words, bulleted([...new Set(lines)], 40), cut);
  const rows = tally(lines);
  const [what = "", unit = ""] = words.split(" ");
  return paragraphs(`${count(rows.length, what)}, by number of ${unit}s:`, numbers(rows, 30), cut);
}

function* planHowTo(script: string): Plan {
  const [first, ...others] = findHowTo(yield* readProject(DECLARING), script);
  if (first === undefined) return `I did not find how to ${script} this project in its own files.`;
  const more = others.map(({ command, because }) => `${code(command)} (${because})`);
  return paragraphs(
    `Run ${code(first.command)} (${first.because}).`,
    more.length > 0 && `Or ${enumerate(more, "or")}.`,
    script === "test" && 'To have them run now, say "run the tests".',
  );
}

function* planDocument(path: string): Plan {
  const text = yield* readText(path === "" ? { path: "readme", lookUp: true } : { path });
  if (typeof text === "string") return text;
  const headings = text.lines.flatMap(({ text: each }) => (/^#{1,3} /.test(each) ? [each] : []));
  return paragraphs(
    `${code(text.path)} begins:`,
    fenced(firstParagraph(text) ?? "(no text)"),
    headings.length > 0 && paragraphs("Its headings:", fenced(headings.slice(0, 40).join("\n"))),
  );
}

/* ---- commands: those that the project declares, and those that the user wrote out ---- */

interface ScriptSlots {
  /** `test` is searched in every ecosystem, other names among package scripts and make targets. */
  readonly script: string;
}

export const matchScript = phraseIntent<ScriptSlots>({
  name: "script",
  phrases: scriptPhrases,
  read({ meaning, slots }, request) {
    const script = slots.named === undefined ? scriptName(slots.script ?? meaning) : request.term(slots.named).value;
    return /^[\w:.@/-]+$/.test(script) ? { script } : undefined;
  },
  plan: planScript,
});

function* planScript({ script }: ScriptSlots): Plan {
  const project = yield* readProject(DECLARING);
  const [found, ...others] = findHowTo(project, script);
  if (found === undefined) return notFound(project, script);
  const { command, because } = found;
  const result = parseCommandOutput(yield* call({ tool: "bash", args: { command }, mayFail: true }));
  const verdict = result.ended === "stopped" ? "did not finish" : result.exitCode === 0 ? "succeeded" : "failed";
  const also = enumerate(others.map((other) => code(other.command)));
  return paragraphs(
    describeRun(command, result, { ending: `${verdict}: ${result.ending}. (${because})`, most: 40 }),
    also !== "" && `There is also ${also}, which was not run.`,
  );
}

function notFound(project: Project, script: string): string {
  const scripts = packageScripts(project).map(([name]) => code(name));
  const looked = enumerate(DECLARING.filter((name) => project.names.includes(name)));
  const what = script === "test" ? "how this project's tests are run" : `a script or target named ${code(script)}`;
  return paragraphs(
    `I did not find ${what}, so nothing was run. ${looked === "" ? "The top folder has none of the files that usually declare this." : `I looked in ${looked}.`}`,
    scripts.length > 0 && `package.json has ${count(scripts.length, "script")}: ${enumerate(scripts)}.`,
    `You can name the command: run ${code("make check")}`,
  );
}

const ASKED =
  /^(?:please |can you |could you )*(?:run|execute|exec)(?<stated> (?:the |this )?(?:shell |following )?command)?:? (?<command>\S.*?)(?:,? please)?$/i;

/** Finds a command in the raw text: its own quotes must reach the shell unchanged. */
function spelledOut(raw: string): string | undefined {
  const isOne = (kind: string, text: string) =>
    rowsOf(commands).some(([each, pattern = ""]) => each === kind && new RegExp(pattern).test(text));
  if (raw.includes("\n")) return undefined;
  const prompt = /^[$!] ?(\S.*)$/.exec(raw)?.[1];
  if (prompt !== undefined) return prompt;
  const { command, stated } = ASKED.exec(raw)?.groups ?? {};
  if (command === undefined) return !raw.endsWith("?") && isOne("bare", raw) ? raw : undefined;
  if (/^["'`“‘]/.test(command)) return undefined;
  return stated !== undefined || isOne("program", command.split(/\s/, 1)[0] ?? "") ? command : undefined;
}

export function matchCommand(request: RequestText): Match | undefined {
  const command = spelledOut(request.raw.trim());
  return command === undefined ? undefined : { intent: "run", slots: { command }, plan: () => planRun({ command }) };
}

export const matchQuotedCommand = phraseIntent<{ readonly command: string }>({
  name: "run",
  phrases: runPhrases,
  read({ slots }, request) {
    const command = request.term(slots.command ?? "").value.trim();
    return command === "" ? undefined : { command };
  },
  plan: planRun,
});

function* planRun({ command }: { readonly command: string }): Plan {
  const result = parseCommandOutput(yield* call({ tool: "bash", args: { command }, mayFail: true }));
  return describeRun(command, result, { ending: `ended: ${result.ending}.`, most: 200 });
}

/** Tells how a command ended, and its last lines, which hold errors and totals. */
function describeRun(
  command: string,
  result: CommandOutput,
  { ending, most }: { readonly ending: string; readonly most: number },
): string {
  if (result.ended === "not-started") return paragraphs(`${code(command)} was not run:`, fenced(result.output.trim()));
  const lines = result.output.trimEnd().split("\n");
  const missing = result.cut ? " (the tool left out the middle of a long output)" : "";
  const label = lines.length > most ? `The last ${most} of ${count(lines.length, "line")} it printed` : "It printed";
  const output = paragraphs(`${label}${missing}:`, fenced(lines.slice(-most).join("\n")));
  return paragraphs(`${code(command)} ${ending}`, lines.join("") === "" ? "It printed nothing." : output);
}
