/** Runs what the project declares: its tests, its build, a script by name. */
import { findHowTo, howToFiles, packageScripts, scriptName } from "../ecosystems.js";
import { phraseIntent } from "../intent.js";
import { parseCommandOutput } from "../outputs/command-output.js";
import phrases from "../phrases/script.txt";
import { call, type Plan } from "../plan.js";
import { type Project, readProject } from "../project-files.js";
import { code, count, enumerate, paragraphs } from "../wording.js";
import { describeRun } from "./run.js";

interface ScriptSlots {
  /** `test` is searched in every ecosystem, other names among package scripts and make targets. */
  readonly script: string;
}

const TAIL_LINES = 40;

function* planScript({ script }: ScriptSlots): Plan {
  const project = yield* readProject(howToFiles);
  const [found, ...others] = findHowTo(project, script);
  if (found === undefined) return notFound(project, script);
  const { command, because } = found;
  const result = parseCommandOutput(yield* call({ tool: "bash", args: { command }, mayFail: true }));
  const verdict = result.ended === "stopped" ? "did not finish" : result.exitCode === 0 ? "succeeded" : "failed";
  const also = enumerate(others.map((other) => code(other.command)));
  return paragraphs(
    describeRun(command, result, { ending: `${verdict}: ${result.ending}. (${because})`, most: TAIL_LINES }),
    also === "" ? undefined : `There is also ${also}, which was not run.`,
  );
}

function notFound(project: Project, script: string): string {
  const scripts = packageScripts(project).map(([name]) => code(name));
  const looked = enumerate(howToFiles(project.names));
  const what = script === "test" ? "how this project's tests are run" : `a script or target named ${code(script)}`;
  return paragraphs(
    `I did not find ${what}, so nothing was run. ${looked === "" ? "The top folder has none of the files that usually declare this." : `I looked in ${looked}.`}`,
    scripts.length > 0 ? `package.json has ${count(scripts.length, "script")}: ${enumerate(scripts)}.` : undefined,
    `You can name the command: run ${code("make check")}`,
  );
}

export const matchScript = phraseIntent<ScriptSlots>({
  name: "script",
  phrases,
  read({ meaning, slots }, request) {
    const script = slots.named === undefined ? scriptName(slots.script ?? meaning) : request.term(slots.named).value;
    return /^[\w:.@/-]+$/.test(script) ? { script } : undefined;
  },
  plan: planScript,
});
