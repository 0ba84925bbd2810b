/** Chooses one of many by typing a part of it: sessions, models, themes. */
import { safeLine } from "../../../base/terminal-text.js";
import { padText, textWidth, truncateText, wrapText } from "../../../base/text-width.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";

export interface PickerItem<T> {
  readonly value: T;
  readonly label: string;
  /** Columns after the label; on a narrow screen the last ones are dropped first. */
  readonly columns?: readonly string[];
  /** Shown below the list while it is selected. A function may load it, and repaint when it has it. */
  readonly preview?: readonly string[] | (() => readonly string[]);
  readonly current?: boolean;
}

/** A function if they change while the list is open. */
type Items<T> = readonly PickerItem<T>[] | (() => readonly PickerItem<T>[]);

export interface PickerState {
  readonly filter: string;
  readonly at: number;
  /** The index of the current scope. */
  readonly scope: number;
}

export interface PickerOptions<T> {
  readonly name: string;
  readonly title: string;
  /** One list, or several that Tab switches between: this folder, all folders. */
  readonly scopes: readonly { readonly name: string; readonly items: Items<T> }[];
  readonly empty: string;
  /** A line below the list. */
  readonly note?: string;
  readonly matches: (filter: string, text: string) => boolean;
  /** Keys that do something with the selected one, while the list stays open. */
  readonly actions?: Readonly<Record<string, { readonly words: string; readonly carryOut: (value: T) => unknown }>>;
  /** Where else the words of the filter are, such as in the content; undefined: nowhere, or not known yet. It may load it, and repaint. */
  readonly foundIn?: (filter: string, value: T) => string | undefined;
}

/** Undefined if the user went back. */
export function pickerDialog<T>(options: PickerOptions<T>): Dialog<PickerState, T | undefined> {
  const { scopes } = options;
  const current = listed(scopes[0]?.items).findIndex((item) => item.current);
  return {
    name: options.name,
    first: { filter: "", at: Math.max(0, current), scope: 0 },
    onKey: (state, key) => onKey(options, state, key),
    onPaste: (state, text) => ({ state: { ...state, at: 0, filter: state.filter + text.replaceAll(/\s+/g, " ") } }),
    view: (state, size, theme) => view(options, state, { size, theme }),
  };
}

function listed<T>(items: Items<T> = []): readonly PickerItem<T>[] {
  return typeof items === "function" ? items() : items;
}

function itemsOf<T>(
  { scopes, matches, foundIn }: PickerOptions<T>,
  { filter, scope }: PickerState,
): readonly PickerItem<T>[] {
  const items = listed(scopes[scope]?.items);
  if (filter.trim() === "") return items;
  const words = filter.trim();
  const named = items.filter(({ label, columns = [] }) => matches(words, [label, ...columns].join(" ")));
  const others = items.filter((item) => !named.includes(item) && foundIn?.(words, item.value) !== undefined);
  return [...named, ...others];
}

function onKey<T>(options: PickerOptions<T>, state: PickerState, { id, data }: Key): Step<PickerState, T | undefined> {
  const items = itemsOf(options, state);
  const move = (by: number) => ({ state: { ...state, at: clamp(state.at + by, items.length) } });
  switch (id) {
    case "up":
    case "ctrl+p":
      return move(-1);
    case "down":
    case "ctrl+n":
      return move(1);
    case "pageUp":
      return move(-10);
    case "pageDown":
      return move(10);
    case "home":
      return { state: { ...state, at: 0 } };
    case "end":
      return { state: { ...state, at: clamp(items.length, items.length) } };
    case "escape":
    case "ctrl+c":
      return state.filter === "" || id === "ctrl+c" ? { done: undefined } : { state: { ...state, filter: "", at: 0 } };
    case "tab":
      return { state: { ...state, scope: (state.scope + 1) % options.scopes.length, at: 0 } };
    case "enter": {
      const chosen = items[state.at];
      return chosen === undefined ? { state } : { done: chosen.value };
    }
    case "backspace":
      return { state: { ...state, at: 0, filter: [...state.filter].slice(0, -1).join("") } };
    case "ctrl+u":
      return { state: { ...state, at: 0, filter: "" } };
    default: {
      const action = id === undefined ? undefined : options.actions?.[id];
      const selected = items[state.at];
      if (action !== undefined && selected !== undefined) action.carryOut(selected.value);
      return /^[^\p{Cc}]+$/u.test(data) ? { state: { ...state, at: 0, filter: state.filter + data } } : { state };
    }
  }
}

function clamp(at: number, count: number): number {
  return Math.max(0, Math.min(at, count - 1));
}

function view<T>(
  options: PickerOptions<T>,
  state: PickerState,
  { size, theme }: { readonly size: DialogSize; readonly theme: Theme },
): DialogView {
  const { columns, rows } = size;
  const items = itemsOf(options, state);
  const title = truncateText(`${options.title}: `, columns);
  const filter = truncateText(safeLine(state.filter), Math.max(0, columns - textWidth(title) - 1));
  const lines = [theme.accent(title) + filter];
  const selected = items[state.at];
  const { preview: shown = [] } = selected ?? {};
  const found = selected && state.filter.trim() !== "" && options.foundIn?.(state.filter.trim(), selected.value);
  const preview = [...(found ? [found] : []), ...(typeof shown === "function" ? shown() : shown)];
  const note = options.note === undefined ? [] : wrapText(options.note, columns).map((line) => theme.dim(line));
  const beside = 2 + note.length;
  const room = Math.max(1, rows - beside - Math.min(preview.length, Math.max(0, rows - 6 - beside)));
  const top = Math.max(0, Math.min(state.at - Math.floor(room / 2), items.length - room));
  const widths = columnWidths(items, columns - 4);
  for (const [index, item] of items.slice(top, top + room).entries()) {
    const row = rowOf(item, widths);
    const isSelected = top + index === state.at;
    const mark = isSelected ? "❯ " : "  ";
    const text = truncateText(mark + row, columns);
    lines.push(isSelected ? theme.selected(text) : text);
  }
  if (items.length === 0) lines.push(theme.dim(truncateText(`  ${options.empty}`, columns)));
  for (const line of preview.slice(0, Math.max(0, rows - beside - Math.min(room, items.length)))) {
    lines.push(theme.dim(truncateText(`    ${safeLine(line)}`, columns)));
  }
  lines.push(...note, theme.dim(truncateText(footer(options, state, items.length), columns)));
  return { lines, cursor: { row: 0, column: textWidth(title) + textWidth(filter) } };
}

function footer<T>({ scopes, actions = {} }: PickerOptions<T>, { scope, filter }: PickerState, count: number): string {
  const current = scopes[scope]?.name ?? "";
  const other = scopes[(scope + 1) % scopes.length]?.name ?? "";
  const change = scopes.length > 1 ? ` · tab: ${other} · ${current}` : "";
  const own = Object.values(actions).map(({ words }) => ` · ${words}`);
  return `enter chooses${own.join("")} · esc ${filter === "" ? "back" : "clears"}${change} · ${count} found`;
}

/** Narrower text says nothing. */
const LEAST_COLUMN = 8;

/** Columns that fit in all rows; the last ones are dropped first. */
function columnWidths<T>(items: readonly PickerItem<T>[], room: number): readonly number[] {
  const count = Math.max(0, ...items.map(({ columns = [] }) => columns.length));
  const widest = (of: (item: PickerItem<T>) => string) =>
    Math.max(0, ...items.map((item) => textWidth(safeLine(of(item)))));
  const label = Math.min(
    widest(({ label: text }) => text),
    Math.max(10, Math.floor(room * 0.6)),
  );
  const widths = [label];
  let left = room - label;
  for (let column = 0; column < count; column++) {
    const wanted = widest(({ columns = [] }) => columns[column] ?? "");
    // The first one says the most.
    const width = column === 0 ? Math.min(wanted, Math.max(LEAST_COLUMN, left - 2)) : wanted;
    if (width + 2 > left) break;
    widths.push(width);
    left -= width + 2;
  }
  return widths;
}

function rowOf<T>({ label, columns = [], current }: PickerItem<T>, widths: readonly number[]): string {
  const cells = [label, ...columns].slice(0, widths.length).map((text, column) => {
    const width = widths[column] ?? 0;
    return padText(truncateText(safeLine(text), width), width);
  });
  return `${cells.join("  ")}${current ? " *" : ""}`.trimEnd();
}
