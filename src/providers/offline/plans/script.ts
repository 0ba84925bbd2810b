import { findHowTo, howToFiles, type Project, packageScripts } from "../ecosystems.js";
import type { ScriptSlots } from "../intents/script.js";
import { parseCommandOutput } from "../outputs/command-output.js";
import { call, type Plan } from "../plan.js";
import { readTogether, topNames } from "../project-files.js";
import { code, count, enumerate, fenced, paragraphs } from "../wording.js";
import { describeOutput } from "./run.js";

const TAIL_LINES = 40;

export function* planScript({ script }: ScriptSlots): Plan {
  const names = yield* topNames();
  const project: Project = { names, texts: yield* readTogether(howToFiles(names)) };
  const [found, ...others] = findHowTo(project, script);
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

function notFound(project: Project, script: string): string {
  const scripts = packageScripts(project).map(([name]) => code(name));
  const looked = howToFiles(project.names);
  const what = script === "test" ? "how this project's tests are run" : `a script or target named ${code(script)}`;
  return paragraphs(
    `I did not find ${what}, so nothing was run. ${looked.length === 0 ? "The top folder has none of the files that usually tell." : `I looked in ${enumerate(looked)}.`}`,
    scripts.length > 0 ? `package.json has ${count(scripts.length, "script")}: ${enumerate(scripts)}.` : undefined,
    `You can name the command: run ${code("make check")}`,
  );
}
