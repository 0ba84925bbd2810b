/** Asks the user at the terminal whether a call may run. */

import { paint } from "../../base/terminal-style.js";
import { safeLine } from "../../base/terminal-text.js";
import { humanWait } from "../../protocol/errors.js";
import type { EventPayloads, PermissionDecision } from "../../protocol/events.js";
import { DISMISSED } from "../../protocol/form.js";
import { askForm } from "./form-prompt.js";
import { quoted } from "./quoted.js";
import type { Terminal } from "./terminal.js";

type Question = EventPayloads["PermissionRequested"];

export interface PermissionAnswer {
  readonly decision: PermissionDecision;
  /** With a denial, for the model; otherwise the values of a form. */
  readonly message?: string;
  /** The rule is also written to the profile. */
  readonly always?: true;
}

interface Choice {
  readonly key: string;
  readonly label: string;
  readonly answer: PermissionAnswer;
}

const DENY: PermissionAnswer = { decision: "deny" };
const WHY = "Why not, for the model: ";

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
  const choices = choicesOf(question);
  const rows = rowsOf(choices);
  for (;;) {
    for (const row of rows.slice(0, -1)) err.write(`${row}\n`);
    const line = await askLine(`${rows.at(-1)}: `, signal);
    if (line === undefined) return DENY;
    const { key = "", words = "" } = /^(?<key>\S*)\s*(?<words>.*)$/.exec(line.trim())?.groups ?? {};
    const chosen = choices.find((choice) => choice.key === (LONG[key.toLowerCase()] ?? key.toLowerCase()));
    if (chosen?.key === "m") return denial(words === "" ? await askLine(WHY, signal) : words);
    if (chosen !== undefined && words === "") return chosen.answer;
    const keys = choices.map((choice) => choice.key);
    err.write(`Please answer ${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}.\n`);
  }
}

/** Enter alone denies. */
const LONG: Readonly<Record<string, string>> = { "": "n", yes: "y", no: "n" };

function describe(terminal: Terminal, question: Question): void {
  const { err } = terminal;
  const width = err.columns ?? terminal.out.columns ?? 80;
  const summary = quoted(question.summary, width - "Allow? ".length);
  err.write(`\n${paint(terminal, "yellow", "Allow?")} ${summary}\n`);
  if (question.reason !== undefined) err.write(`${paint(terminal, "dim", quoted(question.reason, width))}\n`);
  if (question.preview !== undefined) err.write(`${quoted(`It would write:\n${question.preview}`, width)}\n`);
  for (const line of offerOf(question)) err.write(`${paint(terminal, "dim", `[s] allows ${safeLine(line)}`)}\n`);
  const { timeout_ms: timeout } = question;
  if (timeout !== undefined)
    err.write(`${paint(terminal, "dim", `Denied automatically after ${humanWait(timeout)}.`)}\n`);
}

/** An engine that does not send an offer allows this one call. */
function offerOf({ offer = ["this call"] }: Question): readonly string[] {
  return offer;
}

function choicesOf(question: Question): readonly Choice[] {
  const onceOnly = question.once_only === true;
  const hasPattern = !onceOnly && offerOf(question).length > 0;
  const choices: readonly (Choice | false)[] = [
    { key: "y", label: onceOnly ? "allow once, for this path" : "allow once", answer: { decision: "allow_once" } },
    hasPattern && { key: "s", label: "allow this pattern for this session", answer: { decision: "allow_pattern" } },
    !onceOnly && { key: "t", label: "allow this tool for this session", answer: { decision: "allow_tool" } },
    hasPattern && {
      key: "a",
      label: "always: write this pattern to your profile",
      answer: { decision: "allow_pattern", always: true },
    },
    { key: "m", label: "deny and tell the model why", answer: DENY },
    { key: "n", label: "deny", answer: DENY },
  ];
  return choices.filter((choice) => choice !== false);
}

/** Several rows, so that the choices fit on a narrow terminal. */
function rowsOf(choices: readonly Choice[]): readonly string[] {
  const texts = choices.map(({ key, label }) => `[${key}] ${label}`);
  const allowing = texts.slice(0, -2);
  const pairs = allowing.flatMap((text, index) => (index % 2 === 0 ? [[text, allowing[index + 1]]] : []));
  return [...pairs, texts.slice(-2)].map((row) => row.filter((text) => text !== undefined).join("  "));
}

function denial(words: string | undefined): PermissionAnswer {
  const message = words?.trim() ?? "";
  return { ...DENY, ...(message !== "" && { message }) };
}
