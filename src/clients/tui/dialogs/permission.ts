/**
 * The question whether a call may run: what will happen, why it asks, and answers of one key.
 *
 * 1. A bar precedes the model's text, so that it cannot imitate the choices.
 * 2. It offers only choices that the engine would honour.
 */
import { safeLine, safeText } from "../../../base/terminal-text.js";
import { truncateText, wrapText } from "../../../base/text-width.js";
import { humanWait } from "../../../protocol/errors.js";
import type { EventPayloads, PermissionDecision } from "../../../protocol/events.js";
import { renderDiff } from "../content/diff/render-diff.js";
import type { Key } from "../terminal/terminal.js";
import type { Style, Theme } from "../theme.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";
import { type FormState, firstForm, formKey, formPaste, formView } from "./form.js";
import { proposedChange } from "./proposed-change.js";

type Question = EventPayloads["PermissionRequested"];

export interface PermissionAnswer {
  readonly decision: PermissionDecision;
  /** With a denial, for the model; otherwise the values of a form. */
  readonly message?: string;
  /** The rule is also written to the profile. */
  readonly always?: true;
}

export interface PermissionState {
  /** The first row of the preview that is shown. */
  readonly scroll: number;
  /** The reason for a denial, while it is being typed. A form is always being typed. */
  readonly message?: string;
  readonly form?: FormState;
}

interface Choice {
  readonly keys: readonly string[];
  readonly label: string;
  readonly answer: PermissionAnswer;
}

/** Whether the call writes text that a review can show. */
export function canReview({ args }: Question): boolean {
  return proposedChange(args).length > 0;
}

export interface PermissionOptions {
  /** Questions after this one. */
  readonly waiting?: number;
  /** The file that a permanent rule goes to. */
  readonly rulesFile?: string | undefined;
}

export function permissionDialog(
  question: Question,
  { waiting = 0, rulesFile }: PermissionOptions = {},
): Dialog<PermissionState, PermissionAnswer> {
  const { form: fields } = question;
  if (fields !== undefined) {
    return {
      name: "form",
      first: { scroll: 0, message: "", form: firstForm(fields) },
      onKey: (state, key) => formKey(fields, state, key),
      onPaste: (state, text) => formPaste(fields, state, text),
      view: (state, size, theme) => formView(question, state, { size, theme }),
    };
  }
  const choices = choicesOf(question, rulesFile);
  return {
    name: "permission",
    first: { scroll: 0 },
    onKey: (state, key) => (state.message === undefined ? choose(state, key, choices) : write(state, key)),
    onPaste: (state, text) =>
      state.message === undefined ? { state } : { state: { ...state, message: state.message + oneLine(text) } },
    view: (state, size, theme) => view(question, state, { choices, size, theme, waiting }),
  };
}

function choicesOf(question: Question, rulesFile = "your profile"): readonly Choice[] {
  const { once_only: onceOnly, offer = [], tool } = question;
  const choices: Choice[] = [{ keys: ["y", "1"], label: "allow once", answer: { decision: "allow_once" } }];
  if (!onceOnly && offer.length > 0) {
    const pattern = offer.map((line) => safeLine(line)).join(", ");
    choices.push({
      keys: ["s", "2"],
      label: `for this session, allow ${pattern}`,
      answer: { decision: "allow_pattern" },
    });
  }
  if (!onceOnly) {
    const label = `allow every call of ${safeLine(tool)} for this session`;
    choices.push({ keys: ["t", "3"], label, answer: { decision: "allow_tool" } });
  }
  if (!onceOnly && offer.length > 0) {
    const label = `always: write this pattern to ${safeLine(rulesFile)}`;
    choices.push({ keys: ["a", "4"], label, answer: { decision: "allow_pattern", always: true } });
  }
  choices.push({ keys: ["n", "escape", "5"], label: "deny", answer: { decision: "deny" } });
  return choices;
}

type PermissionStep = Step<PermissionState, PermissionAnswer>;

function choose(state: PermissionState, { id }: Key, choices: readonly Choice[]): PermissionStep {
  const scroll = { up: -1, down: 1, pageUp: -10, pageDown: 10 }[id ?? ""];
  if (scroll !== undefined) return { state: { ...state, scroll: Math.max(0, state.scroll + scroll) } };
  if (id === "m") return { state: { ...state, message: "" } };
  const chosen = choices.find(({ keys }) => id !== undefined && keys.includes(id));
  return chosen === undefined ? { state } : { done: chosen.answer };
}

/** Enter denies with the typed reason, Esc goes back to the choices. */
function write(state: PermissionState, { id, data }: Key): PermissionStep {
  const { message = "" } = state;
  if (id === "escape") return { state: { scroll: state.scroll } };
  if (id === "enter") {
    const words = message.trim();
    return { done: { decision: "deny", ...(words !== "" && { message: words }) } };
  }
  if (id === "backspace") return { state: { ...state, message: [...message].slice(0, -1).join("") } };
  if (id === "ctrl+u") return { state: { ...state, message: "" } };
  const typed = /^[^\p{Cc}\u001b]+$/u.test(data) ? data : "";
  return { state: { ...state, message: message + typed } };
}

/** A tab has no fixed width. */
function spaced(text: string): string {
  return safeText(text).replaceAll("\t", "    ");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

interface ViewOptions {
  readonly choices: readonly Choice[];
  readonly size: DialogSize;
  readonly theme: Theme;
  readonly waiting: number;
}

function view(question: Question, state: PermissionState, options: ViewOptions): DialogView {
  const { theme, size, waiting, choices } = options;
  const { columns } = size;
  const bar = theme.ascii ? "| " : "│ ";
  const quote = (text: string, style: Style) =>
    wrapText(spaced(text), Math.max(1, columns - bar.length)).map((line) => theme.warning(bar) + style(line));
  const more = waiting > 0 ? theme.dim(` (${waiting} more after this)`) : "";
  const head = [
    theme.warning(truncateText(`Allow ${safeLine(question.tool)}?`, columns)) + (columns >= 60 ? more : ""),
  ];
  const what = quote(question.summary, theme.strong);
  const why = question.reason === undefined ? [] : quote(safeLine(question.reason), theme.dim);
  const preview = previewOf(question, theme, { bar, columns });
  const foot = state.message === undefined ? choiceLines(choices, question, { columns, theme }) : [];
  const input = state.message === undefined ? undefined : messageLine(state.message, columns, theme);
  const taken = head.length + what.length + why.length + foot.length + (input === undefined ? 0 : 2);
  const shown = excerpt(preview, { top: state.scroll, rows: size.rows - taken, columns, theme });
  const lines = [...head, ...clip(what, size), ...shown, ...why, ...foot];
  if (input === undefined) return { lines };
  const hint = theme.dim(truncateText("enter denies with these words, esc goes back", columns));
  return { lines: [...lines, input.line, hint], cursor: { row: lines.length, column: input.column } };
}

/** A command of many lines leaves room for the choices. */
function clip(lines: readonly string[], { rows, columns }: DialogSize): readonly string[] {
  const most = Math.max(3, Math.floor(rows / 3));
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), truncateText(`${lines.length - most + 1} more lines`, columns)];
}

function previewOf(
  { preview, args }: Question,
  theme: Theme,
  { bar, columns }: { readonly bar: string; readonly columns: number },
): readonly string[] {
  const width = Math.max(1, columns - bar.length);
  const files = proposedChange(args);
  if (files.length === 0) return preview === undefined ? [] : previewLines(preview, theme, { bar, columns });
  const lines = files.flatMap(({ path, what, notes, hunks }) => [
    ...(files.length > 1 ? [theme.strong(truncateText(`${safeLine(path)} · ${what}`, width))] : []),
    ...notes.flatMap((note) => wrapText(safeLine(note), width)),
    ...renderDiff(hunks, { width, theme }),
  ]);
  return lines.map((line) => theme.dim(bar) + line);
}

function previewLines(
  preview: string,
  theme: Theme,
  { bar, columns }: { readonly bar: string; readonly columns: number },
): readonly string[] {
  return spaced(preview)
    .replace(/\n$/, "")
    .split("\n")
    .flatMap((line) => {
      const style = line.startsWith("+") ? theme.added : line.startsWith("-") ? theme.removed : theme.dim;
      return wrapText(line, Math.max(1, columns - bar.length)).map((row) => theme.dim(bar) + style(row));
    });
}

function excerpt(
  lines: readonly string[],
  {
    top,
    rows,
    columns,
    theme,
  }: { readonly top: number; readonly rows: number; readonly columns: number; readonly theme: Theme },
): readonly string[] {
  const room = Math.max(3, rows);
  if (lines.length <= room) return lines;
  const most = room - 1;
  const first = Math.min(top, lines.length - most);
  const place = `lines ${first + 1} to ${first + most} of ${lines.length}, up and down scroll`;
  return [...lines.slice(first, first + most), theme.dim(truncateText(place, columns))];
}

function choiceLines(
  choices: readonly Choice[],
  question: Question,
  { columns, theme }: { readonly columns: number; readonly theme: Theme },
): readonly string[] {
  const { timeout_ms: timeout, once_only: onceOnly } = question;
  const lines = choices.flatMap(({ keys: [key = ""], label }) => {
    const [first = "", ...rest] = wrapText(label, Math.max(1, columns - 4));
    return [`${theme.key(`[${key}]`)} ${first}`, ...rest.map((row) => `    ${row}`)];
  });
  lines.push(`${theme.key("[m]")} ${truncateText("deny and tell the model why", Math.max(1, columns - 4))}`);
  if (canReview(question)) {
    lines.push(`${theme.key("[v]")} ${truncateText("show the whole change", Math.max(1, columns - 4))}`);
  }
  if (onceOnly) lines.push(theme.dim(truncateText("You can allow only this one call.", columns)));
  if (timeout !== undefined) {
    lines.push(theme.dim(truncateText(`Denied automatically after ${humanWait(timeout)}.`, columns)));
  }
  return lines;
}

function messageLine(
  message: string,
  columns: number,
  theme: Theme,
): { readonly line: string; readonly column: number } {
  const label = "Why not: ";
  const room = Math.max(1, columns - label.length - 1);
  const safe = safeLine(message);
  const shown = [...safe].slice(-room).join("");
  return { line: `${theme.key(label)}${shown}`, column: label.length + shown.length };
}
