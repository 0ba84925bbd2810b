/** Asks the user at the terminal whether a call may run. */

import { paint } from "../../base/terminal-style.js";
import { textWidth } from "../../base/text-width.js";
import { humanWait } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import { DISMISSED } from "../../protocol/form.js";
import { type PermissionAnswer, permissionChoices, RULE_PLACES, shortQuestion } from "../sdk/permission-choices.js";
import { askForm } from "./form-prompt.js";
import { pick } from "./pick.js";
import { quoted } from "./quoted.js";
import type { Terminal } from "./terminal.js";

type Question = EventPayloads["PermissionRequested"];

const DENY: PermissionAnswer = { decision: "deny" };

/** Without a terminal, and when its input ends, the answer denies. */
export async function answerQuestion(
  terminal: Terminal,
  question: Question,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  if (question.form === undefined) return (await askPermission(terminal, question, signal)) ?? DENY;
  const { form, ...plain } = question;
  const { preview: _fields, ...rest } = plain;
  const given = (await askPermission(terminal, rest, signal)) ?? DENY;
  if (given.decision === "deny") return given;
  const message = await askForm(terminal, form, signal);
  return message === undefined ? { decision: "deny", message: DISMISSED } : { ...given, message };
}

/** Undefined without a terminal. A closed input denies. */
export async function askPermission(
  terminal: Terminal,
  question: Question,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  const { askLine, err } = terminal;
  if (askLine === undefined) return undefined;
  describe(terminal, question);
  const given = await pick(terminal, permissionChoices(question), { ...NO_WORDS, signal });
  if (given?.answer === "why") return denial(given.words);
  if (given?.answer !== "where") return given === undefined ? DENY : given.answer;
  err.write("Always allow it where?\n");
  const place = await pick(terminal, RULE_PLACES, { ...NO_WORDS, signal });
  return typeof place?.answer === "object" ? place.answer : DENY;
}

/** Only a no may have words behind it. */
const NO_WORDS = { long: { yes: "y", no: "n", m: "n" }, takesWords: (answer: unknown) => answer === "why" };

function describe(terminal: Terminal, question: Question): void {
  const { err } = terminal;
  const width = err.columns ?? terminal.out.columns ?? 80;
  const short = shortQuestion(question);
  if (short !== undefined && textWidth(short) < width) err.write(`\n${paint(terminal, "yellow", short)}\n`);
  else {
    const summary = quoted(question.summary, width - "Allow? ".length);
    err.write(`\n${paint(terminal, "yellow", "Allow?")} ${summary}\n`);
  }
  if (question.reason !== undefined) err.write(`${paint(terminal, "dim", quoted(question.reason, width))}\n`);
  if (question.preview !== undefined) err.write(`${quoted(`It would write:\n${question.preview}`, width)}\n`);
  const { timeout_ms: timeout } = question;
  if (timeout !== undefined)
    err.write(`${paint(terminal, "dim", `Denied automatically after ${humanWait(timeout)}.`)}\n`);
}

function denial(words: string): PermissionAnswer {
  const message = words.trim();
  return { ...DENY, ...(message !== "" && { message }) };
}
