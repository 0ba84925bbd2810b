/** Running what the project itself declares: its tests, its build, a script by name. */

import { findHowTo, howToFiles, type Project, packageScripts } from "../ecosystems.js";
import type { Intent } from "../intent.js";
import { parseCommandOutput } from "../outputs/command-output.js";
import phrases from "../phrases/script.txt";
import { PhraseBook } from "../phrases.js";
import { call, type Plan } from "../plan.js";
import { readTogether, topNames } from "../project-files.js";
import type { RequestText } from "../request-text.js";
import { code, count, enumerate, fenced, paragraphs } from "../wording.js";
import { describeOutput } from "./run.js";

export interface ScriptSlots {
  /** `test` is looked for in every ecosystem, other names among package scripts and make targets. */
  readonly script: string;
}

const PHRASES = new PhraseBook(phrases);

/** Other words for a script that is usually called something else. */
const SYNONYMS: readonly (readonly [RegExp, string])[] = [
  [/^lint/, "lint"],
  [/^format/, "format"],
  [/^checks?$/, "check"],
  [/^type/, "typecheck"],
  [/^bench/, "bench"],
  [/^compile$/, "build"],
];

export function parseScript(request: RequestText): ScriptSlots | undefined {
  for (const { meaning, slots } of PHRASES.matches(request.text)) {
    if (meaning === "test") return { script: "test" };
    const word = slots.script?.toLowerCase() ?? "";
    const known = SYNONYMS.find(([pattern]) => pattern.test(word))?.[1] ?? word;
    const script = slots.named === undefined ? known : request.term(slots.named).value;
    if (/^[\w:.@/-]+$/.test(script)) return { script };
  }
  return undefined;
}

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

export const scriptIntent: Intent<ScriptSlots> = { name: "script", parse: parseScript, plan: planScript };
