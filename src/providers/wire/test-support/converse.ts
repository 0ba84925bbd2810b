/** Drives a model for tests as the loop does: calls it, answers its tool calls, repeats, and keeps the canonical conversation. */
import type { Model, ModelEvent, ModelRequest } from "../../../engine/ports.js";
import type { AssistantBlock, Message, ResultContent, ToolUseBlock } from "../../../protocol/content.js";
import type { Failure } from "../../../protocol/errors.js";

export interface Conversation {
  readonly messages: readonly Message[];
  /** The events of each model call. */
  readonly calls: readonly (readonly ModelEvent[])[];
  /** The text of the last answer. */
  readonly text: string;
  readonly failure?: Failure;
}

export interface ConverseOptions extends Partial<Pick<ModelRequest, "system" | "tools" | "maxOutputTokens">> {
  readonly messages: readonly Message[];
  /** Tells what a tool answers. */
  readonly run: (call: ToolUseBlock) => readonly ResultContent[];
}

const MOST_CALLS = 10;
let ids = 0;

export async function converse(model: Model, options: ConverseOptions): Promise<Conversation> {
  const { run, messages: first, ...fields } = options;
  const messages = [...first];
  const calls: (readonly ModelEvent[])[] = [];
  const signal = new AbortController().signal;
  while (calls.length < MOST_CALLS) {
    const request = { model: model.model, system: "", tools: [], ...fields, messages };
    const events: ModelEvent[] = [];
    for await (const batch of model.stream(request, { model, signal })) events.push(...batch);
    calls.push(events);
    const content = blocksOf(events);
    if (content.length > 0) messages.push({ role: "assistant", content });
    const text = events.map((event) => (event.type === "text" ? event.text : "")).join("");
    const last = events.at(-1);
    if (last?.type === "failure") return { messages, calls, text, failure: last.failure };
    const used = content.filter((block) => block.type === "tool_use");
    if (used.length === 0) return { messages, calls, text };
    messages.push({
      role: "user",
      content: used.map((use) => ({
        type: "tool_result",
        call: use.call,
        tool: use.tool,
        content: run(use),
        is_error: false,
      })),
    });
  }
  throw new Error(`The model was asked ${MOST_CALLS} times and did not stop calling tools.`);
}

function blocksOf(events: readonly ModelEvent[]): readonly AssistantBlock[] {
  return events.flatMap((event): readonly AssistantBlock[] => {
    if (event.type !== "block") return [];
    if (event.block.type !== "tool_call") return [event.block];
    const { tool, args, malformed } = event.block;
    return [{ type: "tool_use", call: `call_${++ids}`, tool, args, ...(malformed !== undefined && { malformed }) }];
  });
}
