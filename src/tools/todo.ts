/**
 * The model's to-do list. Only the conversation holds it: the newest call is the list. It changes nothing, so it belongs to the set
 * `read`, which is always on.
 */
import type { Tool, ToolOutcome } from "../engine/ports.js";
import { text } from "../protocol/content.js";
import { isJsonObject, type JsonObject } from "../protocol/json.js";
import { CATALOG } from "./catalog.js";

const MARKS = { pending: "[ ]", in_progress: "[>]", done: "[x]" } as const;
type TodoStatus = keyof typeof MARKS;

interface Todo {
  readonly text: string;
  readonly status: TodoStatus;
}

const MAX_TODOS = 100;
const MAX_TEXT = 500;

export function createTodoTool(): Tool {
  return {
    ...CATALOG.todo,
    async run(args) {
      const todos = readTodos(args);
      return typeof todos === "string" ? { status: "error", content: [text(todos)] } : report(todos);
    },
  };
}

/** The list, or what is wrong with it. */
function readTodos({ todos }: JsonObject): readonly Todo[] | string {
  if (!Array.isArray(todos)) return "todos must be a list of { text, status }.";
  if (todos.length > MAX_TODOS)
    return `The list has ${todos.length} items; at most ${MAX_TODOS} are allowed. Join some.`;
  const list: Todo[] = [];
  for (const [index, item] of todos.entries()) {
    const at = `Item ${index + 1}`;
    if (!isJsonObject(item) || typeof item.text !== "string") return `${at} must be { text, status }.`;
    const words = item.text.replace(/\s+/g, " ").trim();
    if (words === "") return `${at} has no text.`;
    if (words.length > MAX_TEXT) return `${at} is longer than ${MAX_TEXT} characters. Make it shorter.`;
    const { status } = item;
    if (!isStatus(status)) return `${at}: status must be one of ${Object.keys(MARKS).join(", ")}.`;
    list.push({ text: words, status });
  }
  return list;
}

function isStatus(value: unknown): value is TodoStatus {
  return typeof value === "string" && Object.hasOwn(MARKS, value);
}

function report(todos: readonly Todo[]): ToolOutcome {
  const lines = todos.map((todo) => `${MARKS[todo.status]} ${todo.text}`);
  const done = todos.filter((todo) => todo.status === "done").length;
  return {
    status: "ok",
    content: [text(lines.join("\n") || "The list is empty.")],
    details: { todos: todos.map((todo) => ({ ...todo })), done, total: todos.length },
  };
}
