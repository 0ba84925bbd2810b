import type { ScriptSlots } from "../intents/script.js";
import { parseCommandOutput } from "../outputs/command-output.js";
import type { FileText } from "../outputs/file-text.js";
import { call, type Plan } from "../plan.js";
import { makeTargets, packageRunner, parseManifest, readTogether, stringEntries, topNames } from "../project-files.js";
import { shellWord } from "../shell-word.js";
import { code, count, enumerate, fenced, paragraphs } from "../wording.js";
import { describeOutput } from "./run.js";

const TAIL_LINES = 40;

interface Project {
  readonly names: readonly string[];
  readonly texts: ReadonlyMap<string, FileText>;
}

interface Found {
  readonly command: string;
  /** The file that says so. */
  readonly because: string;
}

export function* planScript({ script }: ScriptSlots): Plan {
  const names = yield* topNames();
  const texts = yield* readTogether(DECLARING.filter((name) => names.includes(name)));
  const project: Project = { names, texts };
  const [found, ...others] = script === "test" ? findTests(project) : findScript(project, script);
  if (found === undefined) return notFound(project, script);
  const { command } = found;
  const result = parseCommandOutput(yield* call({ tool: "bash", args: { command }, mayFail: true }));
  if (result.ended === "not-started") return paragraphs(`${code(command)} was not run:`, fenced(result.output.trim()));
  const verdict = result.ended === "stopped" ? "did not finish" : result.exitCode === 0 ? "succeeded" : "failed";
  return paragraphs(
    `${code(command)} ${verdict}: ${result.ending}. (${found.because})`,
    describeOutput(result, TAIL_LINES),
    others.length > 0
      ? `There is also ${enumerate(others.map((other) => code(other.command)))}, which was not run.`
      : undefined,
  );
}

/** Files that declare scripts or tests, read when they are there. */
const DECLARING = [
  "package.json",
  "deno.json",
  "Makefile",
  "makefile",
  "pyproject.toml",
  "setup.cfg",
  "tox.ini",
  "composer.json",
];

/** What `npm init` writes when there are no tests. */
const PLACEHOLDER = /no test specified/;

function findTests({ names, texts }: Project): readonly Found[] {
  const found: Found[] = [];
  const has = (name: string): boolean => names.includes(name);
  const scripts = stringEntries(parseManifest(texts.get("package.json"))?.scripts);
  const test = scripts.find(([name]) => name === "test")?.[1];
  if (test !== undefined && !PLACEHOLDER.test(test))
    found.push({ command: `${packageRunner(names)} test`, because: `package.json: ${test}` });
  if (has("Cargo.toml")) found.push({ command: "cargo test", because: "there is a Cargo.toml" });
  if (has("go.mod")) found.push({ command: "go test ./...", because: "there is a go.mod" });
  const pytest =
    ["pytest.ini", "conftest.py"].find(has) ??
    ["pyproject.toml", "setup.cfg", "tox.ini"].find((name) => mentions(texts.get(name), "pytest"));
  if (pytest !== undefined) found.push({ command: "python3 -m pytest", because: `${pytest} speaks of pytest` });
  if (stringEntries(parseManifest(texts.get("composer.json"))?.scripts).some(([name]) => name === "test"))
    found.push({ command: "composer test", because: "composer.json has a test script" });
  if (has("pom.xml")) found.push({ command: "mvn test", because: "there is a pom.xml" });
  if (has("gradlew")) found.push({ command: "./gradlew test", because: "there is a gradlew" });
  if (has("mix.exs")) found.push({ command: "mix test", because: "there is a mix.exs" });
  if (has("deno.json")) found.push({ command: "deno test", because: "there is a deno.json" });
  found.push(...findTarget({ names, texts }, "test"));
  return found;
}

function mentions(text: FileText | undefined, word: string): boolean {
  return text?.lines.some((line) => line.text.includes(word)) === true;
}

function findScript(project: Project, script: string): readonly Found[] {
  const declared = stringEntries(parseManifest(project.texts.get("package.json"))?.scripts).find(
    ([name]) => name === script,
  );
  const fromPackage =
    declared === undefined
      ? []
      : [
          {
            command: `${packageRunner(project.names)} run ${shellWord(script)}`,
            because: `package.json: ${declared[1]}`,
          },
        ];
  return [...fromPackage, ...findTarget(project, script)];
}

function findTarget({ texts }: Project, target: string): readonly Found[] {
  const makefile = texts.get("Makefile") ?? texts.get("makefile");
  return makeTargets(makefile).includes(target)
    ? [{ command: `make ${shellWord(target)}`, because: `the Makefile has a target ${target}` }]
    : [];
}

function notFound({ names, texts }: Project, script: string): string {
  const scripts = stringEntries(parseManifest(texts.get("package.json"))?.scripts).map(([name]) => code(name));
  const looked = DECLARING.filter((name) => names.includes(name));
  const what = script === "test" ? "how this project's tests are run" : `a script or target named ${code(script)}`;
  return paragraphs(
    `I did not find ${what}, so nothing was run. ${looked.length === 0 ? "The top folder has none of the files that usually tell." : `I looked in ${enumerate(looked)}.`}`,
    scripts.length > 0 ? `package.json has ${count(scripts.length, "script")}: ${enumerate(scripts)}.` : undefined,
    `You can name the command: run ${code("make check")}`,
  );
}
