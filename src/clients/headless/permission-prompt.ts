/** Asks the person at the terminal whether a call may run. */
import { safeText } from "../../base/terminal-text.js";
import type { EventPayloads, PermissionDecision } from "../../protocol/events.js";
import { paint, type Terminal } from "./terminal.js";

const ANSWERS: Readonly<Record<string, PermissionDecision>> = {
  y: "allow_once",
  yes: "allow_once",
  s: "allow_pattern",
  t: "allow_tool",
  n: "deny",
  no: "deny",
  "": "deny",
};

/** Undefined when nobody can be asked. A closed input is a denial. */
export async function askPermission(
  terminal: Terminal,
  question: EventPayloads["PermissionRequested"],
  signal: AbortSignal,
): Promise<PermissionDecision | undefined> {
  if (terminal.askLine === undefined) return undefined;
  terminal.err.write(`\n${paint(terminal, "yellow", "Allow?")} ${safeText(question.summary)}\n`);
  const choices = "[y] once  [s] this call for the session  [t] this tool for the session  [n] no: ";
  for (;;) {
    const line = await terminal.askLine(choices, signal);
    if (line === undefined) return "deny";
    const decision = ANSWERS[line.trim().toLowerCase()];
    if (decision !== undefined) return decision;
    terminal.err.write("Please answer y, s, t or n.\n");
  }
}
