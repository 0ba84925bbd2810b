/** Runs a command that the user wrote out. */
import commands from "../commands.txt";
import { type Matcher, phraseIntent } from "../intent.js";
import { type CommandOutput, parseCommandOutput } from "../outputs/command-output.js";
import phrases from "../phrases/run.txt";
import { call, type Plan } from "../plan.js";
import { rowsOf } from "../rows.js";
import { code, count, fenced, paragraphs } from "../wording.js";

interface RunSlots {
  readonly command: string;
}

function isOne(kind: "program" | "bare", text: string): boolean {
  return rowsOf(commands).some(([each, pattern = ""]) => each === kind && new RegExp(pattern).test(text));
}

const ASKED =
  /^(?:please |can you |could you )*(?:run|execute|exec)(?<stated> (?:the |this )?(?:shell |following )?command)?:? (?<command>\S.*?)(?:,? please)?$/i;

/** From the raw text: a command's own quotes must reach the shell unchanged. */
function spelledOut(raw: string): string | undefined {
  if (raw.includes("\n")) return undefined;
  const prompt = /^[$!] ?(\S.*)$/.exec(raw)?.[1];
  if (prompt !== undefined) return prompt;
  const { command, stated } = ASKED.exec(raw)?.groups ?? {};
  if (command === undefined) return !raw.endsWith("?") && isOne("bare", raw) ? raw : undefined;
  if (/^["'`“‘]/.test(command)) return undefined;
  return stated !== undefined || isOne("program", command.split(/\s/, 1)[0] ?? "") ? command : undefined;
}

const MOST_LINES = 200;

function* planRun({ command }: RunSlots): Plan {
  const result = parseCommandOutput(yield* call({ tool: "bash", args: { command }, mayFail: true }));
  return describeRun(command, result, { ending: `ended: ${result.ending}.` });
}

/** How a command ended, and its last lines, which hold errors and totals. */
export function describeRun(command: string, result: CommandOutput, { ending = "", most = MOST_LINES }): string {
  if (result.ended === "not-started") return paragraphs(`${code(command)} was not run:`, fenced(result.output.trim()));
  const lines = result.output.trimEnd().split("\n");
  const missing = result.cut ? " (the tool left out the middle of a long output)" : "";
  const label = lines.length > most ? `The last ${most} of ${count(lines.length, "line")} it printed` : "It printed";
  const output = paragraphs(`${label}${missing}:`, fenced(lines.slice(-most).join("\n")));
  return paragraphs(`${code(command)} ${ending}`, lines.join("") === "" ? "It printed nothing." : output);
}

export const matchQuotedCommand = phraseIntent<RunSlots>({
  name: "run",
  phrases,
  read({ slots }, request) {
    const command = request.term(slots.command ?? "").value.trim();
    return command === "" ? undefined : { command };
  },
  plan: planRun,
});

export const matchCommand: Matcher = (request) => {
  const command = spelledOut(request.raw.trim());
  return command === undefined ? undefined : { intent: "run", slots: { command }, plan: () => planRun({ command }) };
};
