/**
 * The plan and the open to-dos of a conversation, which a summary repeats word for word.
 *
 * 1. The newest call of the tool that keeps the list has it. The plan is the last answer to an input in plan mode.
 * 2. A later summary finds them in the earlier one, after its own words: text that the model summarised cannot imitate them there.
 * 3. What the kept messages hold is not repeated.
 */
import { capText } from "../../base/cap-text.js";
import { type Message, plainText } from "../../protocol/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import type { PinnedPlace } from "./compact.js";
import { isInput, readSummary } from "./summary-message.js";

export interface OpenWorkOptions extends Pick<PinnedPlace, "kept"> {
  /** The text that inputs in plan mode contain. */
  readonly planMark: string;
  /** The tool that keeps the list. */
  readonly todoTool: string;
}

const TODO_HEAD = "[the to-do list, as the tool todo has it]";
const PLAN_HEAD = "[the plan from plan mode]";
const MOST_PLAN = 12_000;
const MARKS: Readonly<Record<string, string>> = { pending: "[ ]", in_progress: "[>]", done: "[x]" };

export function openWork(messages: readonly Message[], options: OpenWorkOptions): readonly string[] {
  const { kept, planMark, todoTool } = options;
  const isKept = (message: Message) => kept.includes(message);
  const todos = todosIn(messages, { todoTool, isKept });
  return [planIn(messages, { planMark, isKept }), todos].filter((text) => text !== undefined);
}

function todosIn(
  messages: readonly Message[],
  { todoTool, isKept }: { readonly todoTool: string; readonly isKept: (message: Message) => boolean },
): string | undefined {
  for (const message of messages.toReversed()) {
    if (message.role === "user") {
      const earlier = pinnedIn(message, TODO_HEAD);
      if (earlier !== undefined) return earlier;
      continue;
    }
    const call = message.content.findLast((block) => block.type === "tool_use" && block.tool === todoTool);
    if (call?.type !== "tool_use" || !Array.isArray(call.args.todos)) continue;
    return isKept(message) ? undefined : todoText(call.args.todos);
  }
  return undefined;
}

/** Undefined if all of it is done. */
function todoText(todos: readonly JsonValue[]): string | undefined {
  const items = todos.filter((item): item is JsonObject => isJsonObject(item) && typeof item.text === "string");
  if (items.every(({ status }) => status === "done")) return undefined;
  return [TODO_HEAD, ...items.map(({ text, status }) => `${MARKS[String(status)] ?? "[ ]"} ${text}`)].join("\n");
}

function planIn(
  messages: readonly Message[],
  { planMark, isKept }: { readonly planMark: string; readonly isKept: (message: Message) => boolean },
): string | undefined {
  // A summary quotes the first input.
  const isPlanned = (message: Message) =>
    isInput(message) && readSummary(message) === undefined && plainText(message.content).includes(planMark);
  const from = messages.findLastIndex(isPlanned);
  if (from === -1) return messages[0] && pinnedIn(messages[0], PLAN_HEAD);
  const length = messages.slice(from + 1).findIndex(isInput);
  const turn = messages.slice(from + 1, length === -1 ? undefined : from + 1 + length);
  const answer = turn.findLast(
    ({ role, content }) => role === "assistant" && content.some(({ type }) => type === "text"),
  );
  if (answer === undefined || isKept(answer)) return undefined;
  const words = answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return `${PLAN_HEAD}\n${capText(words.trim(), MOST_PLAN, "the log has all of it")}`;
}

/** A pinned text of an earlier summary. */
function pinnedIn(message: Message, head: string): string | undefined {
  if (readSummary(message) === undefined) return undefined;
  const words = plainText(message.content);
  const after = words.slice(words.lastIndexOf("\n</summary>") + 1);
  const from = after.indexOf(`<pinned>\n${head}\n`);
  if (from === -1) return undefined;
  const text = after.slice(from + "<pinned>\n".length);
  return text.slice(0, text.indexOf("\n</pinned>"));
}
