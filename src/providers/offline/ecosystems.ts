/** How to test, build and run projects of each kind, from the files that declare it. */
import { readableShellWord } from "../../base/shell-word.js";
import table from "./ecosystems.txt";
import { makeTargets, type Project, packageRunner, parseManifest, stringEntries } from "./project-files.js";
import { rowsOf } from "./rows.js";

export interface HowTo {
  readonly command: string;
  /** The file that declares it. */
  readonly because: string;
}

const ROWS = rowsOf(table);

/** The kind of project that each file indicates. */
export const KINDS = ROWS.flatMap(([file = "", kind = ""]) => (kind.trim() === "" ? [] : [{ file, kind }]));

/** Files that declare scripts, read when they are there. */
const DECLARING = "package.json deno.json Makefile makefile pyproject.toml setup.cfg tox.ini composer.json".split(" ");

/** Other words for a script that is usually called something else. */
const SYNONYMS = "lint=lint format=format check=check type=typecheck bench=bench compile=build dev=dev"
  .split(" ")
  .map((pair) => pair.split("="));

export function scriptName(word: string): string {
  const lower = word.toLowerCase();
  return SYNONYMS.find(([beginning = ""]) => lower.startsWith(beginning))?.[1] ?? lower;
}

export function howToFiles(names: readonly string[]): readonly string[] {
  return DECLARING.filter((name) => names.includes(name));
}

export function packageScripts({ texts }: Project): readonly (readonly [string, string])[] {
  return stringEntries(parseManifest(texts.get("package.json"))?.scripts);
}

/** The most certain first. */
export function findHowTo(project: Project, script: string): readonly HowTo[] {
  const found = [...fromPackage(project, script), ...usual(project, script), ...fromMakefile(project, script)];
  return found.filter(({ command }, index) => found.findIndex((other) => other.command === command) === index);
}

function fromPackage(project: Project, script: string): readonly HowTo[] {
  const runner = packageRunner(project.names);
  if (script === "install" && project.names.includes("package.json"))
    return [{ command: `${runner} install`, because: "there is a package.json" }];
  const declared = packageScripts(project).find(([name]) => name === script)?.[1];
  // `npm init` writes "no test specified" when there are no tests.
  if (declared === undefined || declared.includes("no test specified")) return [];
  const run = script === "test" || script === "start" ? "" : "run ";
  return [{ command: `${runner} ${run}${readableShellWord(script)}`, because: `package.json: ${declared}` }];
}

/** By the table: `script [word that the file must hold]: command`, separated by `; `. */
function usual({ names, texts }: Project, script: string): readonly HowTo[] {
  return ROWS.filter(([file = ""]) => names.includes(file)).flatMap(([file = "", , cell = ""]) => {
    const commands = [...cell.matchAll(/(\w+)(?: \[(\w+)\])?: (.+?)(?:; |$)/g)];
    return commands.flatMap(([, name, word, command = ""]) => {
      const holds = word === undefined || texts.get(file)?.lines.some(({ text }) => text.includes(word));
      const because = word === undefined ? `there is a ${file}` : `${file} mentions ${word}`;
      return name === script && holds ? [{ command, because }] : [];
    });
  });
}

function fromMakefile({ texts }: Project, target: string): readonly HowTo[] {
  const makefile = texts.get("Makefile") ?? texts.get("makefile");
  if (!makeTargets(makefile).includes(target)) return [];
  return [{ command: `make ${readableShellWord(target)}`, because: `the Makefile has a target ${target}` }];
}
