/** How projects of each kind are tested, built and run, from the files that say so. */
import table from "./ecosystems.txt";
import type { FileText } from "./outputs/file-text.js";
import { makeTargets, packageRunner, parseManifest, stringEntries } from "./project-files.js";
import { rowsOf } from "./rows.js";
import { shellWord } from "./shell-word.js";

export interface Project {
  /** Names in the top folder. */
  readonly names: readonly string[];
  readonly texts: ReadonlyMap<string, FileText>;
}

export interface HowTo {
  readonly command: string;
  /** The file that says so. */
  readonly because: string;
}

interface Command extends HowTo {
  readonly file: string;
  readonly script: string;
  /** It counts only where the file holds this word. */
  readonly mentions: string | undefined;
}

const ROWS = rowsOf(table);

/** What projects with these files are. */
export const KINDS = ROWS.flatMap(([file = "", kind = ""]) => (kind.trim() === "" ? [] : [{ file, kind }]));

const COMMANDS: readonly Command[] = ROWS.flatMap(([file = "", , cell = ""]) =>
  [...cell.matchAll(/(\w+)(?: \[(\w+)\])?: (.+?)(?:; |$)/g)].map(([, script = "", mentions, command = ""]) => {
    const because = mentions === undefined ? `there is a ${file}` : `${file} speaks of ${mentions}`;
    return { file, script, mentions, command, because };
  }),
);

/** Files that declare scripts, read when they are there. */
const DECLARING = "package.json deno.json Makefile makefile pyproject.toml setup.cfg tox.ini composer.json".split(" ");
/** What `npm init` writes when there are no tests. */
const PLACEHOLDER = /no test specified/;
/** Commands of a package manager that need no "run" before them. */
const DIRECT = new Set(["test", "start"]);

export function howToFiles(names: readonly string[]): readonly string[] {
  return DECLARING.filter((name) => names.includes(name));
}

export function packageScripts({ texts }: Project): readonly (readonly [string, string])[] {
  return stringEntries(parseManifest(texts.get("package.json"))?.scripts);
}

/** The surest first. */
export function findHowTo(project: Project, script: string): readonly HowTo[] {
  const found = [...fromPackage(project, script), ...usual(project, script), ...fromMakefile(project, script)];
  return found.filter(({ command }, index) => found.findIndex((other) => other.command === command) === index);
}

function fromPackage(project: Project, script: string): readonly HowTo[] {
  const runner = packageRunner(project.names);
  if (script === "install" && project.names.includes("package.json"))
    return [{ command: `${runner} install`, because: "there is a package.json" }];
  const declared = packageScripts(project).find(([name]) => name === script)?.[1];
  if (declared === undefined || PLACEHOLDER.test(declared)) return [];
  const command = DIRECT.has(script) ? `${runner} ${script}` : `${runner} run ${shellWord(script)}`;
  return [{ command, because: `package.json: ${declared}` }];
}

function usual({ names, texts }: Project, script: string): readonly HowTo[] {
  const holds = (file: string, word: string) => texts.get(file)?.lines.some(({ text }) => text.includes(word));
  const own = COMMANDS.filter((each) => each.script === script && names.includes(each.file));
  const composer = stringEntries(parseManifest(texts.get("composer.json"))?.scripts).some(([name]) => name === script);
  return [
    ...own.filter(({ file, mentions }) => mentions === undefined || holds(file, mentions)),
    ...(composer ? [{ command: `composer ${script}`, because: `composer.json has a ${script} script` }] : []),
  ];
}

function fromMakefile({ texts }: Project, target: string): readonly HowTo[] {
  const makefile = texts.get("Makefile") ?? texts.get("makefile");
  if (!makeTargets(makefile).includes(target)) return [];
  return [{ command: `make ${shellWord(target)}`, because: `the Makefile has a target ${target}` }];
}
