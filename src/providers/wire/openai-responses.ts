/**
 * Decodes the stream of OpenAI Responses. `openai-responses-request.ts` encodes requests.
 *
 * 1. An item becomes a block when it is done, or when the response ends before it was; the response's own list is read only
 *    if no event announced an item.
 * 2. A reasoning item becomes a thinking block whose `opaque` holds the fields to send it back. Items without a canonical form
 *    (searches, code that OpenAI ran) are kept whole.
 */
import type { ModelBlock, ModelEvent, ModelToolCall, StopReason } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { NO_USAGE, type Usage } from "../../protocol/usage.js";
import { interrupted, malformed, streamFailure } from "./failures.js";
import { asList, asNumber, asObject, asText, parseJson } from "./fields.js";
import { encodeResponses, PLAIN_REASONING } from "./openai-responses-request.js";
import { toolCall } from "./tool-arguments.js";
import type { Frame, Wire, WireContext, WireStep } from "./wire.js";

type ItemKind = "message" | "reasoning" | "function_call" | "other";

interface OpenItem {
  readonly index: number;
  readonly kind: ItemKind;
  /** The announced item. */
  readonly start: JsonObject;
  /** Text, thinking, or the JSON of arguments, as far as it has arrived. */
  readonly body: string;
}

export interface ResponsesState {
  readonly context: WireContext;
  /** Nearly always none or one, because items follow each other. */
  readonly open: readonly OpenItem[];
  /** An item was announced. */
  readonly begun: boolean;
  readonly called: boolean;
  readonly refused: boolean;
}

type Step = WireStep<ResponsesState>;

export const openaiResponses: Wire<ResponsesState> = {
  name: "openai-responses",
  framing: "sse",
  canonicalForm: 1,
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  encode: encodeResponses,
  initial: (context) => ({ context, open: [], begun: false, called: false, refused: false }),
  step,
  end: (state) => [failed(interrupted(state.context))],
};

function step(state: ResponsesState, frame: Frame): Step {
  const data = parseJson(frame.data);
  if (!isJsonObject(data)) {
    // Some gateways close with the `[DONE]` of Chat Completions.
    if (frame.data.trim() === "[DONE]") return { state, events: [] };
    return failWith(state, malformed("an event that is not JSON", state.context));
  }
  const type = asText(data.type) || frame.event;
  switch (type) {
    case "response.output_item.added":
      return { state: withItem(state, openItem(data, asObject(data.item))), events: [] };
    case "response.output_item.done":
      return itemDone(state, data, asObject(data.item));
    case "response.output_text.delta":
      return grow(state, data, "message");
    case "response.refusal.delta":
      return grow({ ...state, refused: true }, data, "message");
    case "response.reasoning_summary_part.added":
      return separate(state, data);
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return grow(state, data, "reasoning");
    case "response.function_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
      return grow(state, data, "function_call");
    case "response.function_call_arguments.done":
      return argumentsDone(state, data);
    case "response.completed":
    case "response.incomplete":
      return complete(state, asObject(data.response));
    case "response.failed":
    case "response.cancelled":
      return failWith(state, responseFailed(asObject(data.response), state.context));
    default:
      return errorOf(state, data, frame.event);
  }
}

/** Errors come under several names, with and without an `error` around them. Other unknown events are ignored. */
function errorOf(state: ResponsesState, data: JsonObject, event: string): Step {
  const isError = event === "error" || data.type === "error" || isJsonObject(data.error);
  if (isError) return failWith(state, streamFailure(data, state.context));
  if (data.object !== "chat.completion.chunk") return { state, events: [] };
  return failWith(state, malformed("a Chat Completions stream instead of a Responses stream", state.context));
}

function responseFailed(response: JsonObject, context: WireContext): Failure {
  if (isJsonObject(response.error)) return streamFailure({ error: response.error }, context);
  const detail = `the response ended as ${asText(response.status) || "failed"}`;
  return failure("ProviderFailed", { name: context.provider, detail }, { retryable: true });
}

/* ---- items ---- */

function openItem(data: JsonObject, start: JsonObject, kind = kindOf(start)): OpenItem {
  return { index: asNumber(data.output_index) ?? 0, kind, start, body: "" };
}

function kindOf(item: JsonObject): ItemKind {
  const { type } = item;
  // Its arguments are plain text.
  if (type === "custom_tool_call") return "function_call";
  return type === "message" || type === "reasoning" || type === "function_call" ? type : "other";
}

function itemOf(state: ResponsesState, data: JsonObject): OpenItem | undefined {
  const index = asNumber(data.output_index) ?? 0;
  return state.open.find((item) => item.index === index);
}

// This and `withBody` run for every token and list each field, because a spread takes ten times as long.
function withItem({ context, open, called, refused }: ResponsesState, item: OpenItem): ResponsesState {
  const others = open.length === 0 ? open : open.filter(({ index }) => index !== item.index);
  return { context, open: others.length === 0 ? [item] : [...others, item], begun: true, called, refused };
}

function withBody({ index, kind, start }: OpenItem, body: string): OpenItem {
  return { index, kind, start, body };
}

/** A delta of an unannounced item starts that item. */
function grow(state: ResponsesState, data: JsonObject, kind: ItemKind): Step {
  const item = itemOf(state, data) ?? openItem(data, {}, kind);
  const delta = asText(data.delta);
  if (item.kind !== kind || delta === "") return { state, events: [] };
  const next = withItem(state, withBody(item, item.body + delta));
  return { state: next, events: kind === "function_call" ? [] : [shown(kind, delta)] };
}

function shown(kind: ItemKind, delta: string): ModelEvent {
  return { type: kind === "reasoning" ? "thinking" : "text", text: delta };
}

/** A summary in several parts reads as paragraphs. */
function separate(state: ResponsesState, data: JsonObject): Step {
  const item = itemOf(state, data);
  if (item === undefined || item.body === "") return { state, events: [] };
  const next = withItem(state, withBody(item, item.body + PARAGRAPH));
  return { state: next, events: [shown("reasoning", PARAGRAPH)] };
}

const PARAGRAPH = "\n\n";

function argumentsDone(state: ResponsesState, data: JsonObject): Step {
  const item = itemOf(state, data) ?? openItem(data, { name: data.name }, "function_call");
  if (typeof data.arguments !== "string" || item.kind !== "function_call") return { state, events: [] };
  return { state: withItem(state, withBody(item, data.arguments)), events: [] };
}

/** Ignores a message that was neither announced nor streamed; any other item may come as a whole. */
function itemDone(state: ResponsesState, data: JsonObject, final: JsonObject): Step {
  const item = itemOf(state, data) ?? openItem(data, final);
  if (item.kind === "message" && item.start === final) return { state: { ...state, begun: true }, events: [] };
  return close(state, item, final);
}

/** `final` is the whole item, if the server sends one. */
function close(state: ResponsesState, item: OpenItem, final: JsonObject): Step {
  const whole = { ...item.start, ...final };
  const events: ModelEvent[] = [];
  const rest = unsaid(item, whole);
  if (rest !== "") events.push(shown(item.kind, rest));
  events.push(...sourcesIn(whole));
  const blocks = blocksOf(withBody(item, item.body + rest), whole, state.context.family);
  for (const block of blocks) events.push({ type: "block", block });
  const next = {
    ...state,
    begun: true,
    called: state.called || item.kind === "function_call",
    refused: state.refused || asList(whole.content).some((part) => asObject(part).type === "refusal"),
    open: state.open.filter((other) => other !== item),
  };
  return { state: next, events };
}

/** The pages of a search, and those that a text cites. */
function sourcesIn({ type, status, action, content }: JsonObject): readonly ModelEvent[] {
  const source = ({ url, title }: JsonObject, cites: string): readonly ModelEvent[] =>
    typeof url === "string" ? [{ type: "source", title: asText(title), url, ...(cites !== "" && { cites }) }] : [];
  if (type === "web_search_call") {
    if (status === "failed") return [{ type: "unsearched", reason: "failed" }];
    const { sources, url } = asObject(action);
    return [...asList(sources).map(asObject), { url }].flatMap((found) => source(found, ""));
  }
  return asList(content)
    .map(asObject)
    .flatMap(({ annotations, text: said }) =>
      asList(annotations)
        .map(asObject)
        .flatMap((cited) => {
          const [start = 0, end = 0] = [asNumber(cited.start_index), asNumber(cited.end_index)];
          return source(cited, asText(said).slice(start, end));
        }),
    );
}

/** The text comes from the deltas; for an item without deltas, from its final text. */
function unsaid(item: OpenItem, whole: JsonObject): string {
  if (item.body !== "") return "";
  return item.kind === "message" ? saidIn(whole) : item.kind === "reasoning" ? thoughtIn(whole) : "";
}

function saidIn(message: JsonObject): string {
  return asList(message.content)
    .map(asObject)
    .map((part) => asText(part.type === "refusal" ? part.refusal : part.text))
    .join("");
}

function textsOf(parts: unknown): readonly string[] {
  return asList(parts).map((part) => asText(asObject(part).text));
}

function thoughtIn(reasoning: JsonObject): string {
  const summary = textsOf(reasoning.summary);
  return (summary.length > 0 ? summary : textsOf(reasoning.content)).join(PARAGRAPH);
}

function blocksOf({ kind, body }: OpenItem, whole: JsonObject, family: string): readonly ModelBlock[] {
  switch (kind) {
    case "message": {
      const phase = asText(whole.phase);
      const blocks = body === "" ? [] : [text(body)];
      // Models that label their messages with a phase expect it back; the label comes before its text.
      if (phase === "" || body === "") return blocks;
      return [{ type: "opaque", provider: family, data: { type: "message", phase } }, ...blocks];
    }
    case "reasoning": {
      const opaque = identityOf(whole, body);
      if (opaque !== undefined) return [{ type: "thinking", text: body, provider: family, opaque }];
      return body === "" ? [] : [{ type: "thinking", text: body, provider: family }];
    }
    case "function_call":
      return [calledIn(whole, body)];
    case "other":
      return whole.type === undefined ? [] : [{ type: "opaque", provider: family, data: whole }];
  }
}

function calledIn(whole: JsonObject, body: string): ModelToolCall {
  const name = asText(whole.name);
  if (whole.type !== "custom_tool_call") return toolCall(name, body || asText(whole.arguments));
  // Each tool understands `input` as its parameter for plain text.
  return toolCall(name, JSON.stringify({ input: asText(whole.input) || body }));
}

/** The fields that a reasoning item needs to be sent back; its text is the summary by default. */
function identityOf(reasoning: JsonObject, body: string): JsonObject | undefined {
  const { id, encrypted_content: encrypted } = reasoning;
  const named = typeof id === "string" && id !== "" ? { id } : {};
  const summary = textsOf(reasoning.summary);
  if (typeof encrypted === "string" && encrypted !== "") {
    const asIs = summary.join() === body && summary.length === (body === "" ? 0 : 1);
    return { ...named, encrypted_content: encrypted, ...(!asIs && { summary }) };
  }
  return summary.length === 0 && asList(reasoning.content).length > 0 ? { ...named, ...PLAIN_REASONING } : undefined;
}

/* ---- the end ---- */

function complete(before: ResponsesState, response: JsonObject): Step {
  let state = before;
  const events: ModelEvent[] = [];
  const take = (step: Step) => {
    state = step.state;
    events.push(...step.events);
  };
  const output = asList(response.output).map(asObject);
  if (!before.begun) for (const item of output) take(close(state, openItem({}, item), item));
  for (const item of before.open.toSorted((one, other) => one.index - other.index)) {
    take(close(state, item, sameItem(item, output)));
  }
  const usage = readUsage(asObject(response.usage));
  if (usage !== undefined) events.push({ type: "usage", usage });
  events.push({ type: "stop", reason: stopReason(state, response) });
  return { state, events, done: true };
}

function sameItem(item: OpenItem, output: readonly JsonObject[]): JsonObject {
  const found = output[item.index];
  return found !== undefined && kindOf(found) === item.kind ? found : {};
}

function stopReason(state: ResponsesState, response: JsonObject): StopReason {
  const cut = asText(asObject(response.incomplete_details).reason);
  if (cut === "content_filter") return "refusal";
  if (cut !== "" || response.status === "incomplete") return "length";
  if (state.called) return "tool_calls";
  return state.refused ? "refusal" : "end";
}

function readUsage(counts: JsonObject): Usage | undefined {
  const input = asNumber(counts.input_tokens);
  const output = asNumber(counts.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const details = asObject(counts.input_tokens_details);
  const read = asNumber(details.cached_tokens) ?? 0;
  const write = asNumber(details.cache_write_tokens) ?? 0;
  return {
    ...NO_USAGE,
    input: Math.max(0, (input ?? 0) - read - write),
    output: output ?? 0,
    cache_read: read,
    cache_write: write,
    reasoning: asNumber(asObject(counts.output_tokens_details).reasoning_tokens) ?? 0,
  };
}

function failWith(state: ResponsesState, problem: Failure): Step {
  return { state, events: [failed(problem)], done: true };
}

function failed(problem: Failure): ModelEvent {
  return { type: "failure", failure: problem };
}
