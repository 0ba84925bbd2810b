/**
 * Decodes the stream of OpenAI Chat Completions and of compatible servers. `openai-chat-request.ts` encodes requests.
 *
 * 1. Calls are emitted in the order of their index. Before the end only calls that are certainly complete are emitted: a later
 *    one has begun and the arguments are one whole object.
 * 2. The answer is complete with `[DONE]`, or when the bytes end after a finish reason.
 */
import type { ModelEvent, StopReason } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { NO_USAGE, type Usage } from "../../protocol/usage.js";
import { type ChatCalls, emitComplete, emitRest, takeCallDeltas } from "./chat-calls.js";
import { interrupted, malformed, streamFailure } from "./failures.js";
import { asList, asNumber, asObject, asText, parseJson } from "./fields.js";
import { encodeChat, THINKING_FIELDS, type ThinkingField } from "./openai-chat-request.js";
import { reportedCost, reportsCost } from "./reported-cost.js";
import type { Frame, Wire, WireContext, WireStep } from "./wire.js";

export interface ChatState {
  readonly context: WireContext;
  readonly text: string;
  readonly thinking: string;
  /** The field that the thinking came in; it is sent back in the same one. */
  readonly thinkingField: ThinkingField | undefined;
  readonly calls: ChatCalls;
  readonly refused: boolean;
  readonly usage: Usage;
  readonly finish: string;
}

type Step = WireStep<ChatState>;

export const openaiChat: Wire<ChatState> = {
  name: "openai-chat",
  framing: "sse",
  canonicalForm: 1,
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  encode: encodeChat,
  initial: (context) => ({
    context,
    text: "",
    thinking: "",
    thinkingField: undefined,
    calls: [],
    refused: false,
    usage: NO_USAGE,
    finish: "",
  }),
  step,
  end: (state) => (state.finish === "" ? [failed(interrupted(state.context))] : complete(state).events),
};

function step(state: ChatState, frame: Frame): Step {
  if (frame.data.trim() === "[DONE]") return complete(state);
  const data = parseJson(frame.data);
  if (!isJsonObject(data)) {
    return { state, events: [failed(malformed("an event that is not JSON", state.context))], done: true };
  }
  const error = errorOf(data, frame.event);
  if (error !== undefined) return { state, events: [failed(streamFailure(error, state.context))], done: true };
  const events: ModelEvent[] = [];
  // The request asks for one answer, so the first is the only one, whatever its index.
  const choice = asObject(asList(data.choices)[0]);
  const next = readUsage(readChoice(state, choice, events), data, events);
  return { state: next, events };
}

function errorOf(data: JsonObject, event: string): JsonValue | undefined {
  if (data.error !== undefined && data.error !== null) return data;
  return event === "error" || data.object === "error" ? data : undefined;
}

function readChoice(before: ChatState, choice: JsonObject, events: ModelEvent[]): ChatState {
  let state = before;
  const delta = asObject(choice.delta);
  const thought = thoughtOf(delta);
  if (thought !== undefined) state = think(state, thought, events);
  const words = typeof delta.content === "string" ? delta.content : partsOf(delta.content, "text");
  const refusal = asText(delta.refusal);
  if (words !== "" || refusal !== "") {
    state = closeThinking(state, events);
    state = withText(state, state.text + words + refusal);
    if (refusal !== "") state = { ...state, refused: true };
    events.push({ type: "text", text: words + refusal });
  }
  const calls = asList(delta.tool_calls);
  if (calls.length > 0) {
    state = closeText(closeThinking(state, events), events);
    state = { ...state, calls: emitComplete(takeCallDeltas(state.calls, calls), events) };
  }
  const finish = asText(choice.finish_reason);
  return finish === "" ? state : { ...state, finish };
}

interface Thought {
  readonly field: ThinkingField | undefined;
  readonly text: string;
}

/** Servers disagree on the field; some send the same words in two of them. */
function thoughtOf(delta: JsonObject): Thought | undefined {
  for (const field of THINKING_FIELDS) {
    const value = asText(delta[field]);
    if (value !== "") return { field, text: value };
  }
  if (typeof delta.content === "string") return undefined;
  const inContent = partsOf(delta.content, "thinking");
  return inContent === "" ? undefined : { field: undefined, text: inContent };
}

/** Content as a list of parts; a thinking part holds parts of text itself. */
function partsOf(content: unknown, type: "text" | "thinking"): string {
  let out = "";
  for (const item of asList(content)) {
    const part = asObject(item);
    if (part.type !== type) continue;
    out += typeof part[type] === "string" ? part[type] : partsOf(part[type], "text");
  }
  return out;
}

function think(state: ChatState, thought: Thought, events: ModelEvent[]): ChatState {
  const next = closeText(state, events);
  events.push({ type: "thinking", text: thought.text });
  return withThinking(next, { field: thought.field, text: next.thinking + thought.text });
}

// These two run for every token and list each field, because a spread takes ten times as long.
function withText(state: ChatState, words: string): ChatState {
  const { context, thinking, thinkingField, calls, refused, usage, finish } = state;
  return { context, text: words, thinking, thinkingField, calls, refused, usage, finish };
}

function withThinking(state: ChatState, thought: Thought): ChatState {
  const { context, text: words, calls, refused, usage, finish } = state;
  return { context, text: words, thinking: thought.text, thinkingField: thought.field, calls, refused, usage, finish };
}

function closeThinking(state: ChatState, events: ModelEvent[]): ChatState {
  if (state.thinking === "") return state;
  const { thinking, thinkingField, context } = state;
  const opaque = thinkingField === undefined ? {} : { opaque: { field: thinkingField } };
  events.push({ type: "block", block: { type: "thinking", text: thinking, provider: context.family, ...opaque } });
  return { ...state, thinking: "" };
}

function closeText(state: ChatState, events: ModelEvent[]): ChatState {
  if (state.text === "") return state;
  events.push({ type: "block", block: text(state.text) });
  return { ...state, text: "" };
}

function complete(before: ChatState): Step {
  const events: ModelEvent[] = [];
  const state = closeText(closeThinking(before, events), events);
  emitRest(state.calls, events);
  const problem = failureOf(state.finish, state.context);
  events.push(problem === undefined ? { type: "stop", reason: stopReason(state) } : failed(problem));
  return { state, events, done: true };
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  content_filter: "refusal",
};

/** Several servers send `stop`, or nothing, after tool calls. */
function stopReason(state: ChatState): StopReason {
  const reason = STOP_REASONS[state.finish];
  if (reason !== undefined && reason !== "tool_calls") return reason;
  if (state.calls.length > 0) return "tool_calls";
  return state.refused ? "refusal" : "end";
}

/** Finish reasons that mean the answer did not finish. */
function failureOf(finish: string, context: WireContext): Failure | undefined {
  if (finish === "error") {
    const detail = "it stopped with an error in the middle of its answer";
    return failure("ProviderFailed", { name: context.provider, detail }, { retryable: true });
  }
  if (finish !== "insufficient_system_resource") return undefined;
  return failure("Overloaded", { name: context.provider, detail: finish }, { retryable: true });
}

function readUsage(state: ChatState, data: JsonObject, events: ModelEvent[]): ChatState {
  // Most events have no counts.
  if (!data.usage && !data.x_groq) return state;
  const counts = isJsonObject(data.usage) ? data.usage : asObject(asObject(data.x_groq).usage);
  const prompt = asNumber(counts.prompt_tokens);
  const output = asNumber(counts.completion_tokens);
  if (prompt === undefined && output === undefined) return state;
  const details = asObject(counts.prompt_tokens_details);
  const read =
    asNumber(details.cached_tokens) ?? asNumber(counts.prompt_cache_hit_tokens) ?? asNumber(counts.cached_tokens) ?? 0;
  const write = asNumber(details.cache_write_tokens) ?? 0;
  const usage: Usage = {
    input: Math.max(0, (prompt ?? 0) - read - write),
    output: output ?? 0,
    cache_read: read,
    cache_write: write,
    reasoning: asNumber(asObject(counts.completion_tokens_details).reasoning_tokens) ?? 0,
  };
  const cost = reportsCost(state.context) ? reportedCost(counts, usage) : undefined;
  events.push({ type: "usage", usage, ...(cost !== undefined && { cost }) });
  return { ...state, usage };
}

function failed(problem: Failure): ModelEvent {
  return { type: "failure", failure: problem };
}
