/**
 * The question whether a call may run: what will happen, why it asks, and the answers. A bar precedes the model's text, so that it
 * cannot imitate the choices.
 */
import { safeLine, safeText } from "../../../base/terminal-text.js";
import { textWidth, truncateText, wrapText } from "../../../base/text-width.js";
import { humanWait } from "../../../protocol/errors.js";
import type { EventPayloads } from "../../../protocol/events.js";
import {
  askedCommand,
  isOwnQuestion,
  type PermissionAnswer,
  type PermissionChoice,
  permissionChoices,
  RULE_PLACES,
  shortQuestion,
} from "../../sdk/permission-choices.js";
import { languageOfFile } from "../../sdk/shown/languages.js";
import { proposedChange } from "../../sdk/shown/proposed-change.js";
import { renderDiff } from "../content/diff/render-diff.js";
import { type ContentTools, plainTools } from "../content/tools.js";
import type { Key } from "../terminal/terminal.js";
import type { Style, Theme } from "../theme.js";
import { choiceRows, chosenBy, markedBy, oneLine, wordsAfter, wordsRow } from "./choices.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";
import { type FormState, firstForm, formKey, formPaste, formView } from "./form.js";

type Question = EventPayloads["PermissionRequested"];

export interface PermissionState {
  /** The first row of the preview that is shown. */
  readonly scroll: number;
  /** The reason for a denial, while it is being typed. A form is always being typed. */
  readonly message?: string;
  readonly form?: FormState;
  /** The answer is to hold always; the choice is where. */
  readonly where?: true;
  /** The choice that the arrows have marked. */
  readonly marked?: number;
}

/** Whether the call writes text that a review can show. */
function canReview({ args }: Question): boolean {
  return proposedChange(args).length > 0;
}

export interface PermissionOptions {
  /** They colour the code of a change. */
  readonly tools?: () => ContentTools;
}

export function permissionDialog(
  question: Question,
  { tools = () => plainTools }: PermissionOptions = {},
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
  const asked = permissionChoices(question);
  const preview = previewer(question);
  const choicesOf = ({ where }: PermissionState) => (where ? RULE_PLACES : asked);
  return {
    name: "permission",
    first: { scroll: 0 },
    onKey: (state, key) => (state.message === undefined ? choose(state, key, choicesOf(state)) : write(state, key)),
    onPaste: (state, text) =>
      state.message === undefined ? { state } : { state: { ...state, message: state.message + oneLine(text) } },
    view: (state, size, theme) =>
      view(question, state, {
        choices: choicesOf(state),
        size,
        theme,
        preview: (columns) => preview(columns, theme, tools()),
      }),
  };
}

type PermissionStep = Step<PermissionState, PermissionAnswer>;

function choose(state: PermissionState, key: Key, choices: readonly PermissionChoice[]): PermissionStep {
  const { id = "" } = key;
  const scroll = { pageUp: -10, pageDown: 10 }[id];
  if (scroll !== undefined) return { state: { ...state, scroll: Math.max(0, state.scroll + scroll) } };
  const { marked, where } = state;
  const moved = markedBy(key, marked, choices.length);
  if (moved !== undefined) return { state: { ...state, marked: moved } };
  if (id === "escape") return where ? { state: { scroll: state.scroll } } : { done: { decision: "deny" } };
  const answer = chosenBy(key, choices, marked) ?? (id === "m" && !where ? "why" : undefined);
  if (answer === undefined) return { state };
  if (answer === "why") return { state: { scroll: state.scroll, message: "" } };
  return answer === "where" ? { state: { scroll: state.scroll, where: true } } : { done: answer };
}

/** Enter denies with the typed reason, Esc goes back to the choices. */
function write(state: PermissionState, key: Key): PermissionStep {
  const { message = "" } = state;
  const { id } = key;
  if (id === "escape") return { state: { scroll: state.scroll } };
  if (id === "enter") {
    const words = message.trim();
    return { done: { decision: "deny", ...(words !== "" && { message: words }) } };
  }
  return { state: { ...state, message: wordsAfter(key, message) ?? message } };
}

/** A tab has no fixed width. */
function spaced(text: string): string {
  return safeText(text).replaceAll("\t", "    ");
}

interface ViewOptions {
  readonly choices: readonly PermissionChoice[];
  readonly size: DialogSize;
  readonly theme: Theme;
  readonly preview: (columns: number) => readonly string[];
}

function view(question: Question, state: PermissionState, options: ViewOptions): DialogView {
  const { theme, size, choices } = options;
  const { columns } = size;
  const bar = BAR;
  const quote = (text: string, style: Style) =>
    wrapText(spaced(text), Math.max(1, columns - bar.length)).map((line) => theme.warning(bar) + style(line));
  const command = askedCommand(question);
  const short = shortQuestion(question);
  const isWhole = short !== undefined && textWidth(short) <= columns;
  const title = isWhole ? short : command === undefined ? `Allow ${safeLine(question.tool)}?` : "Run this command?";
  const head = [theme.warning(truncateText(title, columns))];
  const what = isWhole ? [] : quote(command ?? question.summary, theme.strong);
  const why = question.reason === undefined ? [] : quote(safeLine(question.reason), theme.dim);
  const preview = options.preview(columns);
  const foot = state.message === undefined ? choiceLines(choices, question, { columns, theme, state }) : [];
  const input = state.message === undefined ? undefined : wordsRow("Why not: ", state.message, { columns, theme });
  const taken = head.length + what.length + why.length + foot.length + (input === undefined ? 0 : 2);
  const shown = excerpt(preview, { top: state.scroll, rows: size.rows - taken, columns, theme });
  const lines = [...head, ...clip(what, size), ...shown, ...why, ...foot];
  if (input === undefined) return { lines };
  const hint = theme.dim(truncateText("enter denies with these words, esc goes back", columns));
  return { lines: [...lines, input.line, hint], cursor: { row: lines.length, column: input.column } };
}

const BAR = "│ ";

/** A command of many lines leaves room for the choices. */
function clip(lines: readonly string[], { rows, columns }: DialogSize): readonly string[] {
  const most = Math.max(3, Math.floor(rows / 3));
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), truncateText(`${lines.length - most + 1} more lines`, columns)];
}

/** Lays a change out once, and not for each key. */
function previewer(question: Question) {
  let known: { readonly for: readonly unknown[]; readonly lines: readonly string[] } | undefined;
  return (columns: number, theme: Theme, tools: ContentTools): readonly string[] => {
    const wanted = [columns, theme, tools];
    if (known?.for.every((each, index) => each === wanted[index]) !== true)
      known = { for: wanted, lines: previewOf(question, theme, { columns, tools }) };
    return known.lines;
  };
}

function previewOf(
  { preview, args }: Question,
  theme: Theme,
  { columns, tools }: { readonly columns: number; readonly tools: ContentTools },
): readonly string[] {
  const bar = BAR;
  const width = Math.max(1, columns - bar.length);
  const files = proposedChange(args);
  if (files.length === 0) return preview === undefined ? [] : previewLines(preview, theme, { bar, columns });
  const lines = files.flatMap(({ path, what, notes, hunks, isNew }) => [
    ...(files.length > 1 ? [theme.strong(truncateText(`${safeLine(path)} · ${what}`, width))] : []),
    ...notes.flatMap((note) => wrapText(safeLine(note), width)),
    ...renderDiff(hunks, { width, theme, isNew, highlighter: tools.highlighter(languageOfFile(path)) }),
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
  const place = `lines ${first + 1} to ${first + most} of ${lines.length}, page up and page down scroll`;
  return [...lines.slice(first, first + most), theme.dim(truncateText(place, columns))];
}

function choiceLines(
  choices: readonly PermissionChoice[],
  question: Question,
  { columns, theme, state }: { readonly columns: number; readonly theme: Theme; readonly state: PermissionState },
): readonly string[] {
  const { timeout_ms: timeout, once_only: onceOnly } = question;
  const { marked, where } = state;
  const lines = choiceRows(choices, marked, { columns, theme });
  if (where) {
    const rules = (question.always ?? []).flatMap((rule) =>
      wrapText(safeLine(rule), Math.max(1, columns - BAR.length)),
    );
    const title = theme.strong(truncateText("Write this rule, for which folders?", columns));
    return [title, ...rules.map((rule) => theme.warning(BAR) + rule), ...lines];
  }
  if (canReview(question)) {
    lines.push(`  ${theme.key("[v]")} ${truncateText("show the whole change", Math.max(1, columns - 6))}`);
  }
  if (onceOnly && !isOwnQuestion(question))
    lines.push(theme.dim(truncateText("You can allow only this one call.", columns)));
  if (timeout !== undefined) {
    lines.push(theme.dim(truncateText(`Denied automatically after ${humanWait(timeout)}.`, columns)));
  }
  return lines;
}
