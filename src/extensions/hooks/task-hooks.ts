/**
 * The items of the to-do list as tasks: hooks see each new item and each one that becomes done, before the list changes.
 *
 * 1. If a hook refuses one, the whole call fails with the reason, and the list stays as it was.
 * 2. An item is known by its text: the tool replaces the whole list with every call.
 */
import type { ToolCall } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import type { EventHooks } from "./event-hooks.js";
import { type HookAnswer, joinAnswers } from "./hook-answer.js";

/** Text and whether it is done. */
type Tasks = ReadonlyMap<string, boolean>;

const AT_ONCE = 8;
const MOST_TASKS = 100;

export class TaskHooks {
  readonly #hooks: EventHooks;
  readonly #ids = new Map<string, string>();
  #known: Tasks | undefined;

  constructor(hooks: EventHooks) {
    this.#hooks = hooks;
  }

  /** Tells what the hooks say about the list of a call of the tool that keeps it; undefined for nothing. */
  async before(
    call: ToolCall,
    { conversation, signal }: { readonly conversation: readonly Message[]; readonly signal: AbortSignal },
  ): Promise<HookAnswer | undefined> {
    const { args } = call;
    if (!this.#hooks.has("TaskCreated", "TaskCompleted")) return undefined;
    const before = this.#known ?? listIn(conversation, call);
    const wanted = tasksOf(args);
    // The tool refuses such a list.
    if (wanted.size > MOST_TASKS) return undefined;
    const created = [...wanted.keys()].filter((text) => !before.has(text));
    const completed = [...wanted].flatMap(([text, isDone]) => (isDone && before.get(text) !== true ? [text] : []));
    const answers = [
      ...(await this.#fire("TaskCreated", created, signal)),
      ...(await this.#fire("TaskCompleted", completed, signal)),
    ];
    return joinAnswers(answers);
  }

  /** The call has changed the list. */
  done({ args }: ToolCall): void {
    this.#known = tasksOf(args);
  }

  async #fire(
    event: "TaskCreated" | "TaskCompleted",
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly HookAnswer[]> {
    const answers: HookAnswer[] = [];
    for (let from = 0; from < texts.length && this.#hooks.has(event); from += AT_ONCE) {
      const some = texts.slice(from, from + AT_ONCE).map(async (text) => {
        const input = { task_id: this.#idOf(text), task_subject: text };
        return (await this.#hooks.fire(event, { input, signal })).answer;
      });
      answers.push(...(await Promise.all(some)));
      if (answers.some(({ refuses }) => refuses)) break;
    }
    return answers;
  }

  #idOf(text: string): string {
    const id = this.#ids.get(text) ?? String(this.#ids.size + 1);
    this.#ids.set(text, id);
    return id;
  }
}

function tasksOf({ todos }: JsonObject): Tasks {
  const items = Array.isArray(todos) ? todos.filter(isJsonObject) : [];
  return new Map(
    items.flatMap(({ text, status }) => {
      const words = typeof text === "string" ? text.replace(/\s+/g, " ").trim() : "";
      return words === "" ? [] : [[words, status === "done"]];
    }),
  );
}

/** The list of the newest call that succeeded. */
function listIn(conversation: readonly Message[], current: ToolCall): Tasks {
  const blocks = conversation.flatMap(({ content }): readonly Message["content"][number][] => content);
  const ended = new Set(
    blocks.flatMap((block) => (block.type === "tool_result" && !block.is_error ? [block.call] : [])),
  );
  const newest = blocks.findLast(
    (block) =>
      block.type === "tool_use" && block.tool === current.tool && block.call !== current.call && ended.has(block.call),
  );
  return newest?.type === "tool_use" ? tasksOf(newest.args) : new Map();
}
