/** Decodes the stream of Anthropic Messages. `anthropic-request.ts` encodes requests. */
import type { ModelBlock, ModelEvent, StopReason } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { NO_USAGE, type Usage } from "../../protocol/usage.js";
import { encodeAnthropic } from "./anthropic-request.js";
import { interrupted, malformed, streamFailure } from "./failures.js";
import { asList, asNumber, asObject, asText, parseJson } from "./fields.js";
import { toolCall } from "./tool-arguments.js";
import type { Frame, Wire, WireContext, WireStep } from "./wire.js";

interface OpenBlock {
  readonly index: number;
  readonly kind: "text" | "thinking" | "tool_use" | "other";
  /** The announced block; for unknown kinds, with its deltas merged in. */
  readonly start: JsonObject;
  /** Text, thinking, or the JSON of an input. */
  readonly body: string;
  readonly signature: string;
}

export interface AnthropicState {
  readonly context: WireContext;
  /** Nearly always none or one, because blocks follow each other. */
  readonly open: readonly OpenBlock[];
  /** A part of the answer has arrived. */
  readonly begun: boolean;
  readonly called: boolean;
  readonly usage: Usage;
  readonly stop: string;
}

type Step = WireStep<AnthropicState>;

export const anthropic: Wire<AnthropicState> = {
  name: "anthropic",
  framing: "sse",
  canonicalForm: 1,
  authorize: (key) => ({ "x-api-key": key }),
  encode: encodeAnthropic,
  initial: (context) => ({ context, open: [], begun: false, called: false, usage: NO_USAGE, stop: "" }),
  step,
  end: (state) => [failed(interrupted(state.context))],
};

function step(state: AnthropicState, frame: Frame): Step {
  if (frame.event === "ping") return { state, events: [] };
  const data = parseJson(frame.data);
  if (!isJsonObject(data)) {
    // Gateways close with a `[DONE]` that is not Anthropic's.
    if (frame.data === "[DONE]") return { state, events: [] };
    return { state, events: [failed(malformed("an event that is not JSON", state.context))], done: true };
  }
  switch (data.type ?? frame.event) {
    case "message_start":
      return messageStart(state, data);
    case "content_block_start":
      return blockStart(state, data);
    case "content_block_delta":
      return blockDelta(state, data);
    case "content_block_stop":
      return close(state, (block) => block.index === data.index);
    case "message_delta": {
      const usage = mergeUsage(state.usage, asObject(data.usage));
      const stop = asText(asObject(data.delta).stop_reason) || state.stop;
      return { state: { ...state, usage, stop }, events: [{ type: "usage", usage }] };
    }
    case "message_stop": {
      const closed = close(state, () => true);
      const reason = stopReason(closed.state);
      return { state: closed.state, events: [...closed.events, { type: "stop", reason }], done: true };
    }
    case "error":
      return { state, events: [failed(streamFailure(data, state.context))], done: true };
    default:
      return { state, events: [] };
  }
}

/** A second one after content means that a gateway glued the start of another answer to a broken one. */
function messageStart(state: AnthropicState, data: JsonObject): Step {
  if (state.begun) return { state, events: [failed(interrupted(state.context))], done: true };
  const usage = mergeUsage(NO_USAGE, asObject(asObject(data.message).usage));
  return { state: { ...state, usage }, events: [{ type: "usage", usage }] };
}

function blockStart(state: AnthropicState, data: JsonObject): Step {
  const start = asObject(data.content_block);
  const index = asNumber(data.index) ?? state.open.length;
  const kind = start.type === "text" || start.type === "thinking" || start.type === "tool_use" ? start.type : "other";
  const body = kind === "text" ? asText(start.text) : kind === "thinking" ? asText(start.thinking) : "";
  const block: OpenBlock = { index, kind, start, body, signature: asText(start.signature) };
  const next = { ...state, begun: true, open: [...state.open.filter((open) => open.index !== index), block] };
  return { state: next, events: body === "" ? [] : [delta(kind, body)] };
}

function blockDelta(state: AnthropicState, data: JsonObject): Step {
  const block = state.open.find((open) => open.index === data.index);
  if (block === undefined) return { state, events: [] };
  const change = asObject(data.delta);
  const shown = shownBy(change, block.kind);
  const next = shown === "" ? apply(block, change) : withBody(block, block.body + shown);
  const open = state.open.length === 1 ? [next] : state.open.map((other) => (other === block ? next : other));
  return { state: withOpen(state, open), events: shown === "" ? [] : [delta(block.kind, shown)] };
}

/** The event for the part of a delta that clients show at once. */
function shownBy(change: JsonObject, kind: OpenBlock["kind"]): string {
  if (change.type === "text_delta" && kind === "text") return asText(change.text);
  return change.type === "thinking_delta" && kind === "thinking" ? asText(change.thinking) : "";
}

function apply(block: OpenBlock, change: JsonObject): OpenBlock {
  switch (change.type) {
    case "input_json_delta":
      return withBody(block, block.body + asText(change.partial_json));
    case "signature_delta":
      return { ...block, signature: block.signature + asText(change.signature) };
    case "citations_delta": {
      const citations: JsonValue = [...asList(block.start.citations), asObject(change.citation)];
      return { ...block, start: { ...block.start, citations } };
    }
    default:
      return block.kind === "other" ? { ...block, start: merged(block.start, change) } : block;
  }
}

// These two run for every token and list each field, because a spread takes ten times as long.
function withBody({ index, kind, start, signature }: OpenBlock, body: string): OpenBlock {
  return { index, kind, start, body, signature };
}

function withOpen({ context, begun, called, usage, stop }: AnthropicState, open: readonly OpenBlock[]): AnthropicState {
  return { context, open, begun, called, usage, stop };
}

/** Appends text to text; any other value replaces the old one. */
function merged(start: JsonObject, change: JsonObject): JsonObject {
  const out: Record<string, JsonValue | undefined> = { ...start };
  for (const [key, value] of Object.entries(change)) {
    if (key === "type") continue;
    const before = out[key];
    out[key] = typeof before === "string" && typeof value === "string" ? before + value : value;
  }
  return out;
}

function delta(kind: OpenBlock["kind"], shown: string): ModelEvent {
  return { type: kind === "thinking" ? "thinking" : "text", text: shown };
}

function close(state: AnthropicState, which: (block: OpenBlock) => boolean): Step {
  const closing = state.open.filter(which);
  const events: ModelEvent[] = [];
  let { called } = state;
  for (const open of closing) {
    const block = finish(open, state.context.family);
    if (block === undefined) continue;
    if (open.start.type === "web_search_tool_result") events.push(...sourcesIn(open.start));
    if (block.type === "text") events.push(...citedBy(open));
    called ||= block.type === "tool_call";
    events.push({ type: "block", block });
  }
  return { state: { ...state, called, open: state.open.filter((block) => !which(block)) }, events };
}

/** The pages that a text rests on, with their words. */
function citedBy({ start, body }: OpenBlock): readonly ModelEvent[] {
  const cited = asList(start.citations).map(asObject);
  return cited.flatMap(({ title, url, cited_text: excerpt }) =>
    typeof url === "string"
      ? [{ type: "source" as const, title: asText(title), url, excerpt: asText(excerpt), cites: body }]
      : [],
  );
}

/** The content is an object if the search failed. */
function sourcesIn({ content }: JsonObject): readonly ModelEvent[] {
  if (isJsonObject(content)) return [{ type: "unsearched", reason: asText(content.error_code) }];
  const found = asList(content).map(asObject);
  return found.map(({ title, url }) => ({ type: "source", title: asText(title), url: asText(url) }));
}

function finish(block: OpenBlock, family: string): ModelBlock | undefined {
  const { kind, start, body, signature } = block;
  switch (kind) {
    case "text":
      return body === "" ? undefined : text(body);
    case "thinking":
      if (signature !== "") return { type: "thinking", text: body, provider: family, opaque: { signature } };
      return body === "" ? undefined : { type: "thinking", text: body, provider: family };
    case "tool_use":
      return toolCall(
        asText(start.name),
        body === "" && start.input !== undefined ? JSON.stringify(start.input) : body,
      );
    case "other": {
      if (start.type === "redacted_thinking") {
        return { type: "thinking", text: "", provider: family, opaque: { redacted: start.data ?? "" } };
      }
      const input = body === "" ? undefined : parseJson(body);
      return { type: "opaque", provider: family, data: input === undefined ? start : { ...start, input } };
    }
  }
}

/** The counts of the start and of each delta are totals; a field that is missing keeps its value. */
function mergeUsage(before: Usage, counts: JsonObject): Usage {
  return {
    input: asNumber(counts.input_tokens) ?? before.input,
    output: asNumber(counts.output_tokens) ?? before.output,
    cache_read: asNumber(counts.cache_read_input_tokens) ?? before.cache_read,
    cache_write: asNumber(counts.cache_creation_input_tokens) ?? before.cache_write,
    reasoning: asNumber(asObject(counts.output_tokens_details).thinking_tokens) ?? before.reasoning,
  };
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
  pause_turn: "pause",
};

function stopReason(state: AnthropicState): StopReason {
  return STOP_REASONS[state.stop] ?? (state.called ? "tool_calls" : "end");
}

function failed(failure: ReturnType<typeof interrupted>): ModelEvent {
  return { type: "failure", failure };
}
