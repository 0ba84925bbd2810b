/** Decodes Ollama's own API: one JSON object per line. `ollama-request.ts` encodes requests. */
import type { ModelEvent, ModelToolCall, StopReason } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import type { Failure } from "../../protocol/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { interrupted, malformed, streamFailure } from "./failures.js";
import { asList, asNumber, asObject, asText, parseJson } from "./fields.js";
import { encodeOllama } from "./ollama-request.js";
import { finishText, NO_TEXT_CALLS, pushText, type TextCallState, type TextPart } from "./text-calls.js";
import { toolCall } from "./tool-arguments.js";
import type { Frame, Wire, WireContext, WireStep } from "./wire.js";

export interface OllamaState {
  readonly context: WireContext;
  /** Shown and not yet closed as a block. */
  readonly text: string;
  readonly thinking: string;
  readonly textCalls: TextCallState;
  readonly called: boolean;
}

type Step = WireStep<OllamaState>;

export const ollama: Wire<OllamaState> = {
  name: "ollama",
  framing: "ndjson",
  canonicalForm: 1,
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  encode: encodeOllama,
  initial: (context) => ({ context, text: "", thinking: "", textCalls: NO_TEXT_CALLS, called: false }),
  step,
  end: (state) => {
    const events: ModelEvent[] = [];
    showHeld(state, events);
    return [...events, failed(interrupted(state.context))];
  },
};

function step(state: OllamaState, frame: Frame): Step {
  const data = parseJson(frame.data);
  const events: ModelEvent[] = [];
  if (!isJsonObject(data)) {
    showHeld(state, events);
    return { state, events: [...events, failed(malformed("a line that is not JSON", state.context))], done: true };
  }
  if (data.error !== undefined && data.error !== null) {
    showHeld(state, events);
    return { state, events: [...events, failed(streamFailure(data, state.context))], done: true };
  }
  const next = readMessage(state, asObject(data.message), events);
  if (data.done !== true) return { state: next, events };
  return complete(next, data, events);
}

function readMessage(before: OllamaState, message: JsonObject, events: ModelEvent[]): OllamaState {
  let state = before;
  const thought = asText(message.thinking);
  if (thought !== "") {
    state = closeText(state, events);
    events.push({ type: "thinking", text: thought });
    state = { ...state, thinking: state.thinking + thought };
  }
  const words = asText(message.content);
  if (words !== "") {
    const { state: textCalls, parts } = pushText(state.textCalls, words, state.context.tools);
    state = takeParts(withText(state, state.text, textCalls), parts, events);
  }
  for (const call of asList(message.tool_calls)) {
    state = emitCall(flushHeld(state, events), readCall(call), events);
  }
  return state;
}

function takeParts(before: OllamaState, parts: readonly TextPart[], events: ModelEvent[]): OllamaState {
  let state = before;
  for (const part of parts) {
    if (part.type === "call") {
      state = emitCall(state, part.call, events);
      continue;
    }
    state = closeThinking(state, events);
    events.push({ type: "text", text: part.text });
    state = withText(state, state.text + part.text, state.textCalls);
  }
  return state;
}

/** Runs for every token and lists each field, because a spread takes ten times as long. */
function withText({ context, thinking, called }: OllamaState, shown: string, textCalls: TextCallState): OllamaState {
  return { context, text: shown, thinking, textCalls, called };
}

function emitCall(before: OllamaState, call: ModelToolCall, events: ModelEvent[]): OllamaState {
  const state = closeText(closeThinking(before, events), events);
  events.push({ type: "block", block: call });
  return { ...state, called: true };
}

/** Arguments are an object here, but the template of some models leaves text. */
function readCall(value: JsonValue): ModelToolCall {
  const call = asObject(asObject(value).function);
  const given = call.arguments ?? "";
  return toolCall(asText(call.name), typeof given === "string" ? given : JSON.stringify(given));
}

function closeThinking(state: OllamaState, events: ModelEvent[]): OllamaState {
  if (state.thinking === "") return state;
  const block = { type: "thinking", text: state.thinking, provider: state.context.family } as const;
  events.push({ type: "block", block });
  return { ...state, thinking: "" };
}

function closeText(state: OllamaState, events: ModelEvent[]): OllamaState {
  if (state.text === "") return state;
  events.push({ type: "block", block: text(state.text) });
  return { ...state, text: "" };
}

/** Emits held text as a call or as text. */
function flushHeld(state: OllamaState, events: ModelEvent[]): OllamaState {
  const parts = finishText(state.textCalls, state.context.tools);
  return takeParts({ ...state, textCalls: NO_TEXT_CALLS }, parts, events);
}

/** In an interrupted answer, held text is text: half a call is not a call. */
function showHeld(state: OllamaState, events: ModelEvent[]): void {
  const { held } = state.textCalls;
  if (held !== "") takeParts(state, [{ type: "text", text: held }], events);
}

function complete(before: OllamaState, data: JsonObject, events: ModelEvent[]): Step {
  const state = closeText(closeThinking(flushHeld(before, events), events), events);
  const usage = {
    input: asNumber(data.prompt_eval_count) ?? 0,
    output: asNumber(data.eval_count) ?? 0,
    cache_read: 0,
    cache_write: 0,
    reasoning: 0,
  };
  const reason: StopReason = data.done_reason === "length" ? "length" : state.called ? "tool_calls" : "end";
  events.push({ type: "usage", usage }, { type: "stop", reason });
  return { state, events, done: true };
}

function failed(failure: Failure): ModelEvent {
  return { type: "failure", failure };
}
