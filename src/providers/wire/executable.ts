/**
 * The protocol of executable providers: a canonical request as JSON in, events as lines of JSON out, or one whole
 * answer. docs/own-provider.md documents it; `executable/model.ts` runs the program.
 *
 * 1. Messages alternate and every call has a result, so a provider does not need to reorder anything.
 * 2. Lines of an unknown type are ignored: newer providers work with an older Oxbow.
 */
import type { ModelEvent, ModelRequest, StopReason } from "../../engine/ports.js";
import { type AssistantBlock, text } from "../../protocol/content.js";
import { type Failure, failure, isBuiltInReason } from "../../protocol/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import type { Usage } from "../../protocol/usage.js";
import { arrange, type ConversationTurn } from "./conversation.js";
import { interrupted, oneLine, streamFailure } from "./failures.js";
import { asNumber, asObject, asText, parseJson } from "./fields.js";
import { toolCall } from "./tool-arguments.js";
import type { Frame, Wire, WireContext, WireRequest, WireStep, WireTarget } from "./wire.js";

const EXECUTABLE_PROTOCOL = 1;

export interface ExecutableState {
  readonly context: WireContext;
  /** Shown and not yet closed as a block. */
  readonly text: string;
  readonly thinking: string;
  readonly called: boolean;
}

type Step = WireStep<ExecutableState>;

export const executable: Wire<ExecutableState> = {
  name: "executable",
  framing: "ndjson",
  canonicalForm: 1,
  // The program handles its own keys.
  authorize: () => ({}),
  encode,
  initial: (context) => ({ context, text: "", thinking: "", called: false }),
  step,
  end: (state) => [failed(interrupted(state.context))],
};

/* ---- the request ---- */

function encode(request: ModelRequest, { baseUrl, family, extra }: WireTarget): WireRequest {
  const turns = arrange(request.messages, (block) => isSendable(block, family));
  return {
    url: baseUrl,
    headers: {},
    body: {
      protocol: EXECUTABLE_PROTOCOL,
      model: request.model,
      system: request.system,
      messages: turns.map(encodeTurn),
      tools: request.tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema,
      })),
      ...(request.maxOutputTokens !== undefined && { max_output_tokens: request.maxOutputTokens }),
      ...(request.effort !== undefined && { effort: request.effort }),
      ...extra,
    },
  };
}

function isSendable(block: AssistantBlock, family: string): boolean {
  return (block.type !== "thinking" && block.type !== "opaque") || block.provider === family;
}

function encodeTurn(turn: ConversationTurn): JsonObject {
  const blocks = turn.role === "user" ? [...turn.results, ...turn.content] : turn.blocks;
  // Blocks are JSON, but TypeScript does not accept an interface as JsonValue.
  return { role: turn.role, content: blocks as unknown as readonly JsonObject[] };
}

/* ---- the answer ---- */

function step(state: ExecutableState, frame: Frame): Step {
  const line = parseJson(frame.data);
  if (!isJsonObject(line)) return failWith(state, broken("it wrote a line that is not JSON", state.context));
  const events: ModelEvent[] = [];
  if (typeof line.type !== "string") return wholeAnswer(state, line);
  if (line.type === "error") return failWith(state, errorOf(line, state.context));
  const next = take(state, line, events);
  if (line.type === "usage") events.push({ type: "usage", usage: readUsage(line) });
  return line.type === "stop" ? complete(next, line.reason, events) : { state: next, events };
}

/** `{"content": …}`, or `{"error": …}`. */
function wholeAnswer(before: ExecutableState, answer: JsonObject): Step {
  if (isJsonObject(answer.error)) return failWith(before, errorOf(answer.error, before.context));
  const content = typeof answer.content === "string" ? [{ type: "text", text: answer.content }] : answer.content;
  if (!Array.isArray(content)) {
    return failWith(before, broken('it wrote JSON with neither "type", "content" nor "error"', before.context));
  }
  const events: ModelEvent[] = [];
  let state = before;
  for (const block of content as readonly JsonValue[]) state = take(state, asObject(block), events);
  if (isJsonObject(answer.usage)) events.push({ type: "usage", usage: readUsage(answer.usage) });
  return complete(state, answer.stop, events);
}

/** A line of a stream and a block of an answer are written the same way. */
function take(before: ExecutableState, line: JsonObject, events: ModelEvent[]): ExecutableState {
  const words = asText(line.text);
  switch (line.type) {
    case "text": {
      if (words === "") return before;
      const state = closeThinking(before, undefined, events);
      events.push({ type: "text", text: words });
      return { ...state, text: state.text + words };
    }
    case "thinking": {
      const state = closeText(before, events);
      if (words !== "") events.push({ type: "thinking", text: words });
      const next = { ...state, thinking: state.thinking + words };
      return line.opaque === undefined ? next : closeThinking(next, line.opaque, events);
    }
    case "tool_call": {
      const state = closeText(closeThinking(before, undefined, events), events);
      const args = line.args ?? {};
      const written = typeof args === "string" ? args : JSON.stringify(args);
      events.push({ type: "block", block: toolCall(asText(line.tool), written) });
      return { ...state, called: true };
    }
    case "opaque": {
      const state = closeText(closeThinking(before, undefined, events), events);
      const block = { type: "opaque", provider: state.context.family, data: line.data ?? null } as const;
      events.push({ type: "block", block });
      return state;
    }
    default:
      return before;
  }
}

function closeThinking(state: ExecutableState, opaque: JsonValue | undefined, events: ModelEvent[]): ExecutableState {
  if (state.thinking === "" && opaque === undefined) return state;
  const thought = { type: "thinking", text: state.thinking, provider: state.context.family } as const;
  events.push({ type: "block", block: opaque === undefined ? thought : { ...thought, opaque } });
  return { ...state, thinking: "" };
}

function closeText(state: ExecutableState, events: ModelEvent[]): ExecutableState {
  if (state.text === "") return state;
  events.push({ type: "block", block: text(state.text) });
  return { ...state, text: "" };
}

const STOP_REASONS: readonly StopReason[] = ["end", "tool_calls", "length", "refusal", "pause"];

function complete(before: ExecutableState, reason: JsonValue | undefined, events: ModelEvent[]): Step {
  const state = closeText(closeThinking(before, undefined, events), events);
  const stop = STOP_REASONS.find((known) => known === reason);
  events.push({ type: "stop", reason: stop ?? (state.called ? "tool_calls" : "end") });
  return { state, events, done: true };
}

function readUsage(counts: JsonObject): Usage {
  const count = (name: string) => asNumber(counts[name]) ?? 0;
  return {
    input: count("input"),
    output: count("output"),
    cache_read: count("cache_read"),
    cache_write: count("cache_write"),
    reasoning: count("reasoning"),
  };
}

/** A provider may name one of Oxbow's reasons; otherwise Oxbow classifies its status, code and message like those of any other provider. */
function errorOf(error: JsonObject, context: WireContext): Failure {
  const message = oneLine(asText(error.message)) || "it reported an error without a message";
  const wait = asNumber(error.retry_after_ms);
  const traits = wait === undefined ? {} : { retry_after_ms: wait };
  const reason = asText(error.reason);
  if (isBuiltInReason(reason)) return { reason, message, ...traits, ...retryable(error) };
  const { code, status } = error;
  return { ...streamFailure({ code, status, message }, context), ...traits, ...retryable(error) };
}

function retryable(error: JsonObject): { readonly retryable?: boolean } {
  return typeof error.retryable === "boolean" ? { retryable: error.retryable } : {};
}

function broken(detail: string, context: WireContext): Failure {
  return failure("ProviderFailed", { name: context.provider, detail });
}

function failWith(state: ExecutableState, problem: Failure): Step {
  return { state, events: [failed(problem)], done: true };
}

function failed(problem: Failure): ModelEvent {
  return { type: "failure", failure: problem };
}
