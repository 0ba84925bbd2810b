/** Reads the result of a shell command: what it printed, and how it ended. */
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

const NOTE =
  /\n?\[((?:exit code \d+[^\]\n]*|killed by SIG\w+|timed out after [^\]\n]*|cancelled after [^\]\n]*|\d+ process(?:es)? still running[^\]\n]*|\d+ of its processes[^\]\n]*))\]\s*$/;
const CUT = /\[… [\d,.]+ (?:bytes|characters) (?:left out|cut) here\b/;

export function parseCommandOutput(fact: ToolFact): CommandOutput {
  let output = fact.text;
  const notes: string[] = [];
  for (let match = NOTE.exec(output); match !== null; match = NOTE.exec(output)) {
    notes.unshift(match[1] ?? "");
    output = output.slice(0, match.index);
  }
  if (output.trim() === "(no output)") output = "";
  const cut = CUT.test(output);
  const exit = notes.map((note) => /^exit code (\d+)/.exec(note)?.[1]).find((number) => number !== undefined);
  if (exit !== undefined) return { output, cut, ended: "exit", exitCode: Number(exit), ending: notes.join("; ") };
  if (!fact.failed) return { output, cut, ended: "exit", exitCode: 0, ending: ["exit code 0", ...notes].join("; ") };
  if (notes.length > 0) return { output, cut, ended: "stopped", ending: notes.join("; ") };
  return { output, cut, ended: "not-started", ending: "it was not run" };
}
