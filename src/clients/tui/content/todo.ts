/** The model's to-do list. */
import { safeLine } from "../../../base/terminal-text.js";
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import type { Role, Theme } from "../theme.js";
import { DOT, ELLIPSIS } from "./marks.js";
import { span } from "./spans.js";
import { clipSpans, wrapSpans } from "./wrap.js";

export interface Todo {
  readonly text: string;
  readonly status: keyof typeof STATES;
}

const STATES = {
  done: { mark: "☑", roles: ["dim"] },
  in_progress: { mark: "▸", roles: ["strong"] },
  pending: { mark: "☐", roles: [] },
} as const satisfies Readonly<Record<string, { mark: string; roles: readonly Role[] }>>;

function todosOf(details: JsonObject | undefined): readonly Todo[] {
  const todos = Array.isArray(details?.todos) ? details.todos : [];
  return todos.filter(isJsonObject).map(({ text, status }) => {
    const known = typeof status === "string" && Object.hasOwn(STATES, status);
    return { text: safeLine(String(text ?? "")), status: known ? (status as Todo["status"]) : "pending" };
  });
}

/** Undefined if everything is done. */
export function openTodos(details: JsonObject | undefined): readonly Todo[] | undefined {
  const todos = todosOf(details);
  return todos.some(({ status }) => status !== "done") ? todos : undefined;
}

export function todoLines(details: JsonObject | undefined, view: { width: number; theme: Theme }): string[] {
  return todosOf(details).flatMap(({ text, status }) => {
    const { lead, cells, roles } = leadOf(status);
    const first = { text: view.theme.accent(lead), width: cells };
    return wrapSpans([span(text, ...roles)], { ...view, first, rest: { text: " ".repeat(cells), width: cells } });
  });
}

function leadOf(status: Todo["status"]) {
  const { mark, roles } = STATES[status];
  const lead = `${mark} `;
  return { lead, cells: lead.length, roles };
}

export interface PinnedOptions {
  readonly width: number;
  readonly theme: Theme;
  /** The most rows. */
  readonly rows: number;
  /** The key that hides the list; undefined if there is none. */
  readonly key: string | undefined;
}

/** The open list in one row each. In a short space it shows what is open, with the newest thing done. */
export function pinnedTodos(todos: readonly Todo[], { width, theme, rows, key }: PinnedOptions): string[] {
  const done = todos.filter(({ status }) => status === "done").length;
  const hint = key === undefined ? [] : [DOT, span(key, "key"), span(" hides them", "dim")];
  const title = clipSpans([span(`Todos: ${done} of ${todos.length} done`, "dim"), ...hint], { width, theme });
  const room = Math.max(1, rows - 1);
  const open = todos.findIndex(({ status }) => status !== "done");
  const from = todos.length <= room ? 0 : Math.max(0, Math.min(open - 1, todos.length - room));
  const isCut = from + room < todos.length;
  const shown = todos.slice(from, from + (isCut ? Math.max(1, room - 1) : room));
  const lines = shown.map(({ text, status }) => {
    const { lead, roles } = leadOf(status);
    return clipSpans([span(lead, "accent"), span(text, ...roles)], { width, theme });
  });
  const left = todos.length - from - shown.length;
  const more = isCut && room > 1 ? [clipSpans([span(`${ELLIPSIS} ${left} more`, "dim")], { width, theme })] : [];
  return [title, ...lines, ...more];
}
