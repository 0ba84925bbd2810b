/**
 * Decodes Gemini's stream of partial answers. `gemini-request.ts` encodes requests.
 *
 * 1. A thought signature belongs to the part it came with and goes back on that part. It is kept as a thinking block directly
 *    before what it signs; `opaque.on` says what that is.
 * 2. No event ends the stream: an answer is complete when the bytes end after a finish reason.
 */
import type { ModelEvent, StopReason } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { NO_USAGE, type Usage } from "../../protocol/usage.js";
import { interrupted, malformed, oneLine, streamFailure } from "./failures.js";
import { asList, asNumber, asObject, asText, parseJson } from "./fields.js";
import { beginCall, continueCall, type PartialCall, writtenArguments } from "./gemini-calls.js";
import { encodeGemini, type SignedPart } from "./gemini-request.js";
import { toolCall } from "./tool-arguments.js";
import type { Frame, Wire, WireContext, WireStep } from "./wire.js";

export interface GeminiState {
  readonly context: WireContext;
  /** Shown and not yet closed as a block. */
  readonly text: string;
  readonly thinking: string;
  /** A call whose arguments still come in pieces. */
  readonly call: PartialCall | undefined;
  readonly called: boolean;
  readonly usage: Usage;
  readonly finish: string;
  readonly finishMessage: string;
}

type Step = WireStep<GeminiState>;

export const gemini: Wire<GeminiState> = {
  name: "gemini",
  framing: "sse",
  canonicalForm: 1,
  authorize: (key) => ({ "x-goog-api-key": key }),
  encode: encodeGemini,
  initial: (context) => ({
    context,
    text: "",
    thinking: "",
    call: undefined,
    called: false,
    usage: NO_USAGE,
    finish: "",
    finishMessage: "",
  }),
  step,
  end: (state) => (state.finish === "" ? [failed(interrupted(state.context))] : complete(state)),
};

function step(state: GeminiState, frame: Frame): Step {
  const data = parseJson(frame.data);
  if (!isJsonObject(data)) {
    if (frame.data.trim() === "[DONE]") return { state, events: [] };
    return failWith(state, malformed("an event that is not JSON", state.context));
  }
  if (isJsonObject(data.error)) return failWith(state, streamFailure(data, state.context));
  const blocked = blockedPrompt(data, state.context);
  if (blocked !== undefined) return failWith(state, blocked);
  const events: ModelEvent[] = [];
  const candidate = asObject(asList(data.candidates)[0]);
  let next = state;
  for (const part of asList(asObject(candidate.content).parts)) next = takePart(next, asObject(part), events);
  if (candidate.groundingMetadata !== undefined) events.push(...sourcesIn(asObject(candidate.groundingMetadata)));
  next = readUsage(next, asObject(data.usageMetadata), events);
  const finish = asText(candidate.finishReason);
  if (finish !== "") next = { ...next, finish, finishMessage: asText(candidate.finishMessage) };
  return { state: next, events };
}

/** The pages of a search, then those again that a passage of the answer rests on. */
function sourcesIn({ groundingChunks, groundingSupports }: JsonObject): readonly ModelEvent[] {
  const pages = asList(groundingChunks).map((chunk) => asObject(asObject(chunk).web));
  const source = ({ uri, title }: JsonObject, cites?: string): readonly ModelEvent[] =>
    typeof uri === "string"
      ? [{ type: "source", title: asText(title), url: uri, ...(cites !== undefined && { cites }) }]
      : [];
  const supports = asList(groundingSupports).map(asObject);
  return [
    ...pages.flatMap((page) => source(page)),
    ...supports.flatMap(({ segment, groundingChunkIndices }) =>
      asList(groundingChunkIndices).flatMap((at) =>
        source(pages[asNumber(at) ?? -1] ?? {}, asText(asObject(segment).text)),
      ),
    ),
  ];
}

/** The prompt itself was refused: there are no candidates then. */
function blockedPrompt(data: JsonObject, context: WireContext): Failure | undefined {
  const { blockReason, blockReasonMessage } = asObject(data.promptFeedback);
  if (typeof blockReason !== "string" || asList(data.candidates).length > 0) return undefined;
  const detail = [`it blocked the prompt (${blockReason})`, oneLine(asText(blockReasonMessage))].filter(Boolean);
  return failure("ContentRefused", { name: context.provider, detail: detail.join(": ") });
}

/* ---- parts ---- */

function takePart(before: GeminiState, part: JsonObject, events: ModelEvent[]): GeminiState {
  const signature = asText(part.thoughtSignature);
  if (isJsonObject(part.functionCall)) return takeCall(before, part.functionCall, { signature, events });
  const state = finishCall(before, events);
  if (typeof part.text !== "string") return keepWhole(state, part, events);
  if (part.thought === true) return think(state, part.text, { signature, events });
  if (signature !== "") return saySigned(state, part.text, { signature, events });
  return part.text === "" ? state : say(closeThinking(state, events), part.text, events);
}

interface Arrival {
  readonly signature: string;
  readonly events: ModelEvent[];
}

// These two run for every piece of text and list each field, because a spread takes ten times as long.
function say(state: GeminiState, words: string, events: ModelEvent[]): GeminiState {
  events.push({ type: "text", text: words });
  const { context, thinking, call, called, usage, finish, finishMessage } = state;
  return { context, text: state.text + words, thinking, call, called, usage, finish, finishMessage };
}

function think(before: GeminiState, thought: string, { signature, events }: Arrival): GeminiState {
  const { context, text: words, thinking, call, called, usage, finish, finishMessage } = closeText(before, events);
  if (thought !== "") events.push({ type: "thinking", text: thought });
  const all = thinking + thought;
  const state = { context, text: words, thinking: all, call, called, usage, finish, finishMessage };
  return signature === "" ? state : sign(state, "thought", { signature, events });
}

/** Parts with a signature are never joined with others, so they close the open block and become their own block. */
function saySigned(before: GeminiState, words: string, { signature, events }: Arrival): GeminiState {
  const state = sign(closeText(before, events), words === "" ? "nothing" : "text", { signature, events });
  return words === "" ? state : closeText(say(state, words, events), events);
}

function takeCall(before: GeminiState, given: JsonObject, { signature, events }: Arrival): GeminiState {
  if (typeof given.name !== "string" || given.name === "") {
    if (before.call === undefined) return before;
    const call = continueCall(before.call, given);
    return given.willContinue === true ? { ...before, call: call } : finishCall({ ...before, call }, events);
  }
  const state = { ...finishCall(before, events), call: beginCall(given, signature) };
  return given.willContinue === true ? state : finishCall(state, events);
}

function finishCall(state: GeminiState, events: ModelEvent[]): GeminiState {
  const { call } = state;
  if (call === undefined) return state;
  let next: GeminiState = closeText({ ...state, call: undefined, called: true }, events);
  next =
    call.signature === "" ? closeThinking(next, events) : sign(next, "call", { signature: call.signature, events });
  events.push({ type: "block", block: toolCall(call.name, writtenArguments(call)) });
  return next;
}

/** Code that the model ran, searches and pictures are sent back unchanged. */
function keepWhole(before: GeminiState, part: JsonObject, events: ModelEvent[]): GeminiState {
  if (Object.keys(part).length === 0) return before;
  const state = closeText(closeThinking(before, events), events);
  events.push({ type: "block", block: { type: "opaque", provider: state.context.family, data: part } });
  return state;
}

/** The thought that led to a part, or an empty one, carries the part's signature. */
function sign(state: GeminiState, on: SignedPart, { signature, events }: Arrival): GeminiState {
  const opaque = { signature, on };
  const block = { type: "thinking", text: state.thinking, provider: state.context.family, opaque } as const;
  events.push({ type: "block", block });
  return { ...state, thinking: "" };
}

function closeThinking(state: GeminiState, events: ModelEvent[]): GeminiState {
  if (state.thinking === "") return state;
  const block = { type: "thinking", text: state.thinking, provider: state.context.family } as const;
  events.push({ type: "block", block });
  return { ...state, thinking: "" };
}

function closeText(state: GeminiState, events: ModelEvent[]): GeminiState {
  if (state.text === "") return state;
  events.push({ type: "block", block: text(state.text) });
  return { ...state, text: "" };
}

/* ---- the end ---- */

function complete(before: GeminiState): readonly ModelEvent[] {
  const events: ModelEvent[] = [];
  const state = closeText(closeThinking(finishCall(before, events), events), events);
  const problem = failureOf(state);
  events.push(problem === undefined ? { type: "stop", reason: stopReason(state) } : failed(problem));
  return events;
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  MAX_TOKENS: "length",
  SAFETY: "refusal",
  RECITATION: "refusal",
  LANGUAGE: "refusal",
  BLOCKLIST: "refusal",
  PROHIBITED_CONTENT: "refusal",
  SPII: "refusal",
  IMAGE_SAFETY: "refusal",
  IMAGE_PROHIBITED_CONTENT: "refusal",
  IMAGE_RECITATION: "refusal",
};

function stopReason({ finish, called }: GeminiState): StopReason {
  return STOP_REASONS[finish] ?? (called ? "tool_calls" : "end");
}

/** Finish reasons that mean the answer did not finish, and whether a retry may help. */
const FAILURES: Readonly<Record<string, { readonly detail: string; readonly retryable: boolean }>> = {
  MALFORMED_FUNCTION_CALL: { detail: "the model wrote a tool call that cannot be read", retryable: true },
  MALFORMED_RESPONSE: { detail: "the model wrote an answer that cannot be read", retryable: true },
  UNEXPECTED_TOOL_CALL: { detail: "the model called a tool that it was not given", retryable: true },
  TOO_MANY_TOOL_CALLS: { detail: "the model called too many tools in a row", retryable: false },
  MISSING_THOUGHT_SIGNATURE: { detail: "a thought signature is missing in the request", retryable: false },
  OTHER: { detail: "it stopped without saying why", retryable: true },
};

function failureOf({ finish, finishMessage, context }: GeminiState): Failure | undefined {
  const known = FAILURES[finish];
  if (known === undefined) return undefined;
  const detail = [`${known.detail} (${finish})`, oneLine(finishMessage)].filter(Boolean).join(": ");
  return failure("ProviderFailed", { name: context.provider, detail }, { retryable: known.retryable });
}

/** Each count is the total so far. Gemini counts thoughts separately from the answer, and cached tokens as part of the prompt. */
function readUsage(state: GeminiState, counts: JsonObject, events: ModelEvent[]): GeminiState {
  const prompt = asNumber(counts.promptTokenCount);
  const answer = asNumber(counts.candidatesTokenCount);
  if (prompt === undefined && answer === undefined) return state;
  const before = state.usage;
  const cached = asNumber(counts.cachedContentTokenCount) ?? before.cache_read;
  const reasoning = asNumber(counts.thoughtsTokenCount) ?? before.reasoning;
  const asked = prompt === undefined ? undefined : prompt + (asNumber(counts.toolUsePromptTokenCount) ?? 0);
  const usage: Usage = {
    input: asked === undefined ? before.input : Math.max(0, asked - cached),
    output: (answer ?? before.output - before.reasoning) + reasoning,
    cache_read: cached,
    cache_write: 0,
    reasoning,
  };
  events.push({ type: "usage", usage });
  return { ...state, usage };
}

function failWith(state: GeminiState, problem: Failure): Step {
  return { state, events: [failed(problem)], done: true };
}

function failed(problem: Failure): ModelEvent {
  return { type: "failure", failure: problem };
}
