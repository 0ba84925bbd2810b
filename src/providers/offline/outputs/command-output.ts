/**
 * Parses the result of a shell command: its output, and how it ended. For a failed command, the last line says in brackets how it
 * ended. A command can print such a line itself, so only the last line counts.
 */
import type { ToolFact } from "../plan.js";

export interface CommandOutput {
  readonly output: string;
  /** Absent when the command did not end by itself, or never started. */
  readonly exitCode?: number;
  /** How it ended, in words. */
  readonly ending: string;
  readonly ended: "exit" | "stopped" | "not-started";
  /** A part of the output is missing from the result. */
  readonly cut: boolean;
}

const LEFTOVER = /(?:^|\n)\[(\d+ (?:process(?:es)? (?:was|were) still running|of its processes)[^\]\n]*)\]\s*$/;
const ENDING =
  /(?:^|\n)\[(exit code \d+[^\]\n]*|killed by SIG\w+|timed out after [^\]\n]*|cancelled after [^\]\n]*)\]\s*$/;
const CUT = /^\[… [\d,.]+ (?:bytes|characters) (?:left out|cut) here\b/m;

export function parseCommandOutput(fact: ToolFact): CommandOutput {
  let output = fact.text;
  const notes: string[] = [];
  for (let match = LEFTOVER.exec(output); match !== null; match = LEFTOVER.exec(output)) {
    notes.unshift(match[1] ?? "");
    output = output.slice(0, match.index);
  }
  const ending = fact.failed ? ENDING.exec(output) : null;
  if (ending !== null) output = output.slice(0, ending.index);
  if (output.trim() === "(no output)") output = "";
  const cut = CUT.test(output);
  if (fact.failed && ending === null) return { output, cut, ended: "not-started", ending: "it was not run" };
  const first = ending?.[1] ?? "exit code 0";
  const exitCode = /^exit code (\d+)/.exec(first)?.[1];
  return {
    output,
    cut,
    ended: exitCode === undefined ? "stopped" : "exit",
    ending: [first, ...notes].join("; "),
    ...(exitCode !== undefined && { exitCode: Number(exitCode) }),
  };
}

/** Whether the command ran, with any result. */
export function hasEnded({ text }: ToolFact): boolean {
  return ENDING.test(text);
}
