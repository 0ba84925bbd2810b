/** Asks the user at the terminal whether a call may run. */

import { paint } from "../../base/terminal-style.js";
import { safeLine } from "../../base/terminal-text.js";
import { humanWait } from "../../protocol/errors.js";
import type { EventPayloads, PermissionDecision } from "../../protocol/events.js";
import { DISMISSED } from "../../protocol/form.js";
import { askForm } from "./form-prompt.js";
import { quoted } from "./quoted.js";
import type { Terminal } from "./terminal.js";

const ANSWERS: Readonly<Record<string, PermissionDecision>> = {
  y: "allow_once",
  yes: "allow_once",
  s: "allow_pattern",
  t: "allow_tool",
  n: "deny",
  no: "deny",
  "": "deny",
};

const ONCE_ONLY_CHOICES = "[y] allow once, for this path  [n] deny: ";
const LAST_CHOICES = "[t] allow this tool for this session  [n] deny: ";

type Question = EventPayloads["PermissionRequested"];

export interface PermissionAnswer {
  readonly decision: PermissionDecision;
  /** The values of a form. */
  readonly message?: string;
}

/** Without a terminal, and when its input ends, the answer denies. */
export async function answerQuestion(
  terminal: Terminal,
  question: Question,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  if (question.form === undefined) return { decision: (await askPermission(terminal, question, signal)) ?? "deny" };
  const { form, ...plain } = question;
  const { preview: _fields, ...rest } = plain;
  const decision = (await askPermission(terminal, rest, signal)) ?? "deny";
  if (decision === "deny") return { decision };
  const message = await askForm(terminal, form, signal);
  return message === undefined ? { decision: "deny", message: DISMISSED } : { decision, message };
}

/** Undefined without a terminal. A closed input denies. */
export async function askPermission(
  terminal: Terminal,
  question: Question,
  signal: AbortSignal,
): Promise<PermissionDecision | undefined> {
  if (terminal.askLine === undefined) return undefined;
  const width = terminal.err.columns ?? terminal.out.columns ?? 80;
  const summary = quoted(question.summary, width - "Allow? ".length);
  terminal.err.write(`\n${paint(terminal, "yellow", "Allow?")} ${summary}\n`);
  if (question.reason !== undefined) terminal.err.write(`${paint(terminal, "dim", quoted(question.reason, width))}\n`);
  if (question.preview !== undefined) terminal.err.write(`${quoted(`It would write:\n${question.preview}`, width)}\n`);
  // An engine that does not send an offer allows this one call.
  const { offer = ["this call"] } = question;
  for (const line of offer) terminal.err.write(`${paint(terminal, "dim", `[s] allows ${safeLine(line)}`)}\n`);
  const { timeout_ms: timeout } = question;
  if (timeout !== undefined) {
    terminal.err.write(`${paint(terminal, "dim", `Denied automatically after ${humanWait(timeout)}.`)}\n`);
  }
  const onceOnly = question.once_only === true;
  const pattern = offer.length === 0 ? "" : "  [s] allow this pattern for this session";
  for (;;) {
    // Two lines, so that the choices fit on a narrow terminal.
    if (!onceOnly) terminal.err.write(`[y] allow once${pattern}\n`);
    const line = await terminal.askLine(onceOnly ? ONCE_ONLY_CHOICES : LAST_CHOICES, signal);
    if (line === undefined) return "deny";
    const decision = ANSWERS[line.trim().toLowerCase()];
    const isOffered = onceOnly
      ? decision === "allow_once" || decision === "deny"
      : decision !== "allow_pattern" || offer.length > 0;
    if (decision !== undefined && isOffered) return decision;
    const letters = onceOnly ? "y" : `y, ${offer.length > 0 ? "s, " : ""}t`;
    terminal.err.write(`Please answer ${letters} or n.\n`);
  }
}
