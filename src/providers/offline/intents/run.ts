/** Running a command that the person spelled out. */
import commands from "../commands.txt";
import type { Intent } from "../intent.js";
import { type CommandOutput, parseCommandOutput } from "../outputs/command-output.js";
import phrases from "../phrases/run.txt";
import { PhraseBook } from "../phrases.js";
import { call, type Plan } from "../plan.js";
import type { RequestText } from "../request-text.js";
import { rowsOf } from "../rows.js";
import { code, count, fenced, paragraphs } from "../wording.js";

export interface RunSlots {
  readonly command: string;
}

const PHRASES = new PhraseBook(phrases);
const isOne = (kind: string, text: string) =>
  rowsOf(commands).some(([each, pattern = ""]) => each === kind && new RegExp(pattern).test(text));

export function parseRun(request: RequestText): RunSlots | undefined {
  for (const { slots } of PHRASES.matches(request.text)) {
    const command = slots.command === undefined ? "" : request.term(slots.command).value.trim();
    if (command !== "") return { command };
  }
  const command = spelledOut(request.raw.trim());
  return command === undefined ? undefined : { command };
}

/** From the raw text, for a command's own quotes must reach the shell as they are. */
function spelledOut(raw: string): string | undefined {
  if (raw.includes("\n")) return undefined;
  const prompt = /^[$!] ?(\S.*)$/.exec(raw)?.[1];
  if (prompt !== undefined) return prompt;
  const asked =
    /^(?:please |can you |could you )*(?:run|execute|exec)(?<stated> (?:the |this )?(?:shell |following )?command)?:? (?<command>\S.*?)(?:,? please)?$/i.exec(
      raw,
    )?.groups;
  const command = asked?.command;
  if (command !== undefined) {
    if (/^["'`“‘]/.test(command)) return undefined;
    return asked?.stated !== undefined || isOne("program", command.split(/\s/, 1)[0] ?? "") ? command : undefined;
  }
  return !raw.endsWith("?") && isOne("bare", raw) ? raw : undefined;
}

const MOST_LINES = 200;

export function* planRun({ command }: RunSlots): Plan {
  const fact = yield* call({ tool: "bash", args: { command }, mayFail: true });
  const result = parseCommandOutput(fact);
  if (result.ended === "not-started") return paragraphs(`${code(command)} was not run:`, fenced(result.output.trim()));
  return paragraphs(`${code(command)} ended: ${result.ending}.`, describeOutput(result, MOST_LINES));
}

/** The end of what a command printed, where errors and totals stand, and a word on what is not shown. */
export function describeOutput({ output, cut }: CommandOutput, most: number): string {
  const lines = output.replace(/\s+$/, "").split("\n");
  if (lines.length === 1 && lines[0] === "") return "It printed nothing.";
  const shown = lines.slice(-most);
  const missing = cut ? " (the tool left out the middle of a long output)" : "";
  const label =
    shown.length < lines.length ? `The last ${most} of ${count(lines.length, "line")} it printed` : "It printed";
  return paragraphs(`${label}${missing}:`, fenced(shown.join("\n")));
}

export const runIntent: Intent<RunSlots> = { name: "run", parse: parseRun, plan: planRun };
