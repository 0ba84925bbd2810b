import type { RunSlots } from "../intents/run.js";
import { type CommandOutput, parseCommandOutput } from "../outputs/command-output.js";
import { call, type Plan } from "../plan.js";
import { code, count, fenced, paragraphs } from "../wording.js";

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
