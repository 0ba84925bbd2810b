/**
 * A question with a form: a row for each field, and one to send it.
 *
 * 1. Up and down (or tab) move, typing changes a text or a number, left and right choose, space ticks.
 * 2. Enter goes on to the next row; on the last one, and in a form with one field, it sends. Esc dismisses the form, Ctrl-D declines it.
 * 3. A bar precedes the words of the server, so that they cannot imitate those of Oxbow.
 */
import { safeLine } from "../../../base/terminal-text.js";
import { truncateText, wrapText } from "../../../base/text-width.js";
import type { EventPayloads } from "../../../protocol/events.js";
import { DISMISSED, type FormField, type FormValue } from "../../../protocol/form.js";
import type { PermissionAnswer } from "../../sdk/permission-choices.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import type { DialogSize, DialogView, Step } from "./dialog.js";
import type { PermissionState } from "./permission.js";

type Question = EventPayloads["PermissionRequested"];

export interface FormState {
  /** The row with the cursor; the one behind the last field sends. */
  readonly row: number;
  /** In a field with several choices: the choice with the cursor. */
  readonly choice: number;
  readonly values: Readonly<Record<string, FormValue>>;
  readonly problem?: string;
}

type FormStep = Step<PermissionState, PermissionAnswer>;

export function firstForm(fields: readonly FormField[]): FormState {
  const values = fields.flatMap(({ name, kind, default: usual }) => {
    if (usual === undefined) return [];
    return [[name, kind === "number" || kind === "integer" ? String(usual) : usual] as const];
  });
  return { row: 0, choice: 0, values: Object.fromEntries(values) };
}

export function formKey(fields: readonly FormField[], state: PermissionState, key: Key): FormStep {
  const form = state.form ?? firstForm(fields);
  const field = fields[form.row];
  const keep = (next: FormState): FormStep => ({ state: { ...state, form: next } });
  switch (key.id) {
    case "escape":
      return { done: { decision: "deny", message: DISMISSED } };
    case "ctrl+d":
      return { done: { decision: "deny" } };
    case "up":
    case "shift+tab":
      return keep({ ...form, choice: 0, row: Math.max(0, form.row - 1) });
    case "down":
    case "tab":
      return keep({ ...form, choice: 0, row: Math.min(fields.length, form.row + 1) });
    case "enter":
      if (field !== undefined && fields.length > 1) return keep({ ...form, choice: 0, row: form.row + 1 });
      return send(fields, form, keep);
  }
  return field === undefined ? { state } : keep(change(form, field, key));
}

function change(form: FormState, field: FormField, { id, data }: Key): FormState {
  const { name, kind, choices = [] } = field;
  const before = form.values[name];
  const set = (value: FormValue | undefined): FormState => {
    const { [name]: _old, ...others } = form.values;
    const { problem: _told, ...rest } = form;
    return { ...rest, values: value === undefined ? others : { ...others, [name]: value } };
  };
  const step = id === "right" ? 1 : id === "left" ? -1 : 0;
  if (kind === "yes_no") {
    if (id === "backspace") return set(undefined);
    if (id === "y" || id === "n") return set(id === "y");
    return step !== 0 || id === "space" ? set(before !== true) : form;
  }
  if (kind === "one") {
    if (id === "backspace") return set(undefined);
    if (step === 0 && id !== "space") return form;
    const at = choices.findIndex(({ value }) => value === before);
    const next = at < 0 ? (step < 0 ? choices.length - 1 : 0) : (at + (step || 1) + choices.length) % choices.length;
    return set(choices[next]?.value);
  }
  if (kind === "some") {
    if (step !== 0) return { ...form, choice: (form.choice + step + choices.length) % choices.length };
    const chosen = choices[form.choice]?.value;
    if (id !== "space" || chosen === undefined) return form;
    const ticked = Array.isArray(before) ? before : [];
    const wanted = ticked.includes(chosen) ? ticked.filter((each) => each !== chosen) : [...ticked, chosen];
    return set(choices.map(({ value }) => value).filter((value) => wanted.includes(value)));
  }
  const text = typeof before === "string" ? before : "";
  if (id === "backspace") return set([...text].slice(0, -1).join("") || undefined);
  if (id === "ctrl+u") return set(undefined);
  return /^[^\p{Cc}\u001b]+$/u.test(data) ? set(text + data) : form;
}

export function formPaste(fields: readonly FormField[], state: PermissionState, text: string): FormStep {
  const form = state.form ?? firstForm(fields);
  const field = fields[form.row];
  if (field === undefined) return { state };
  return {
    state: { ...state, form: change(form, field, { id: undefined, data: text.replaceAll(/\s+/g, " ") } as Key) },
  };
}

function send(fields: readonly FormField[], form: FormState, keep: (next: FormState) => FormStep): FormStep {
  const values: Record<string, FormValue | null> = {};
  for (const [row, { name, kind, title, required }] of fields.entries()) {
    const value = form.values[name];
    const label = safeLine(title ?? name);
    if (value === undefined) {
      if (required) return keep({ ...form, row, problem: `${label} needs a value.` });
      values[name] = null;
      continue;
    }
    const isNumber = kind === "number" || kind === "integer";
    const number = Number(value);
    if (isNumber && (!Number.isFinite(number) || (kind === "integer" && !Number.isInteger(number))))
      return keep({ ...form, row, problem: `${label} must be a ${kind === "integer" ? "whole " : ""}number.` });
    values[name] = isNumber ? number : value;
  }
  return { done: { decision: "allow_once", message: JSON.stringify(values) } };
}

export function formView(
  question: Question,
  state: PermissionState,
  { size, theme }: { readonly size: DialogSize; readonly theme: Theme },
): DialogView {
  const { form: fields = [], summary, reason = "" } = question;
  const form = state.form ?? firstForm(fields);
  const { columns } = size;
  const bar = "│ ";
  const quote = (text: string) =>
    wrapText(safeLine(text), Math.max(1, columns - bar.length)).map((line) => theme.warning(bar) + line);
  const head = [theme.warning(truncateText(`${safeLine(summary)}:`, columns)), ...quote(reason).slice(0, 6)];
  const rows = fields.map((field, index) => fieldLine(field, form, { isHere: index === form.row, theme, columns }));
  const sendLine = `${marker(form.row === fields.length, theme)}${theme.key("Send")}`;
  const foot = [
    ...(form.problem === undefined ? [] : [theme.danger(truncateText(form.problem, columns))]),
    ...hintLines(fields[form.row], { theme, columns }),
    theme.dim(truncateText("up, down: move · enter: next, or send · ctrl+d: decline · esc: dismiss", columns)),
  ];
  const room = Math.max(3, size.rows - head.length - foot.length - 1);
  const first = Math.max(0, Math.min(form.row - room + 1, rows.length - room));
  const shown = rows.slice(first, first + room);
  const lines = [...head, ...shown, sendLine, ...foot];
  const field = fields[form.row];
  const isTyped = field !== undefined && (field.kind === "text" || field.kind === "number" || field.kind === "integer");
  if (!isTyped) return { lines };
  const line = plainLine(field, form, { isHere: true, columns });
  return { lines, cursor: { row: head.length + form.row - first, column: Math.min(columns - 1, [...line].length) } };
}

interface LineOptions {
  readonly isHere: boolean;
  readonly columns: number;
}

function marker(isHere: boolean, theme: Theme): string {
  return isHere ? theme.key("> ") : "  ";
}

function fieldLine(field: FormField, form: FormState, options: LineOptions & { readonly theme: Theme }): string {
  const { isHere, theme } = options;
  const line = plainLine(field, form, options);
  return isHere ? theme.key(line.slice(0, 2)) + theme.strong(line.slice(2)) : line;
}

function plainLine(field: FormField, form: FormState, { isHere, columns }: LineOptions): string {
  const label = `${safeLine(field.title ?? field.name)}${field.required ? "*" : ""}: `;
  const start = `${isHere ? "> " : "  "}${truncateText(label, Math.max(8, columns >> 1))}`;
  const room = Math.max(4, columns - [...start].length - 1);
  const value = valueText(field, form, isHere);
  // The end of a long value is where it is typed.
  const isLong = [...value].length > room;
  return start + (isLong && field.choices === undefined ? [...value].slice(-room).join("") : truncateText(value, room));
}

function valueText({ name, kind, choices = [] }: FormField, form: FormState, isHere: boolean): string {
  const value = form.values[name];
  if (kind === "yes_no") return value === undefined ? "(yes or no)" : value ? "yes" : "no";
  if (kind === "one") {
    const chosen = choices.find((choice) => choice.value === value);
    return chosen === undefined ? `(choose: ${choices.length} choices)` : safeLine(chosen.title);
  }
  if (kind === "some") {
    const ticked = Array.isArray(value) ? value : [];
    return choices
      .map((choice, index) => {
        const mark = ticked.includes(choice.value) ? "[x]" : "[ ]";
        return `${isHere && index === form.choice ? "›" : ""}${mark} ${safeLine(choice.title)}`;
      })
      .join("  ");
  }
  return safeLine(String(value ?? ""));
}

function hintLines(
  field: FormField | undefined,
  { theme, columns }: { readonly theme: Theme; readonly columns: number },
): readonly string[] {
  if (field === undefined) return [];
  const how = { one: "left, right: choose", some: "left, right: move, space: tick", yes_no: "y or n" }[
    field.kind as string
  ];
  const facts = [field.description, field.hint, how, field.required ? "required" : undefined];
  const text = facts.filter((fact) => fact !== undefined).join(" · ");
  return wrapText(safeLine(text), Math.max(1, columns))
    .slice(0, 3)
    .map((line) => theme.dim(line));
}
