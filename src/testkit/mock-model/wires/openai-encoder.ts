/** OpenAI Chat Completions: unnamed server-sent events that end with `[DONE]`. */
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import type { Usage } from "../../../protocol/usage.js";
import type { ErrorAction, Noise, Part, ToolAction } from "../script/script.js";
import { argumentDeltas, fullText, textDeltas } from "./deltas.js";
import { errorBody, shapeOf } from "./openai-errors.js";
import { sseNoise } from "./sse-noise.js";
import type { Ask, Encoder, Outcome, PartFrames, Service } from "./wire.js";

const STOPS: Readonly<Record<string, string>> = {
  end: "stop",
  tool: "tool_calls",
  length: "length",
  refusal: "content_filter",
  pause: "stop",
  "stop-sequence": "stop",
};

export class ChatEncoder implements Encoder {
  readonly streamType = "text/event-stream; charset=utf-8";
  readonly #ask: Ask;
  readonly #service: Service;
  readonly #head: JsonObject;
  readonly #withUsage: boolean;
  readonly #before: string;
  readonly #after: string;
  #calls = 0;

  constructor(ask: Ask, service: Service) {
    this.#ask = ask;
    this.#service = service;
    this.#head = { id: service.ids.id("chatcmpl-", 29), created: Math.floor(service.wall() / 1000), model: ask.model };
    const { stream_options: options } = ask.body;
    this.#withUsage = isJsonObject(options) && options.include_usage === true;
    this.#before = `data: ${JSON.stringify(this.#envelope("chat.completion.chunk")).slice(0, -1)},"choices":[{"index":0,"delta":`;
    this.#after = `}]${this.#withUsage ? ',"usage":null' : ""}}\n\n`;
  }

  open(first: Part | undefined): string {
    const content = first === undefined || first.type === "text" ? '""' : "null";
    return this.#chunk(`{"role":"assistant","content":${content},"refusal":null}`);
  }

  part(part: Part): PartFrames {
    if (part.type !== "tool") return { before: "", deltas: this.#deltas(part), after: "" };
    const index = this.#calls++;
    const start = JSON.stringify({ tool_calls: [{ index, ...this.#toolCall(part, "") }] });
    return { before: this.#chunk(start), deltas: this.#argumentDeltas(part, index), after: "" };
  }

  *#deltas(part: Exclude<Part, ToolAction>): Generator<string> {
    if (part.type === "redacted-thinking") return;
    const before = part.type === "text" ? '{"content":' : '{"content":null,"reasoning_content":';
    for (const text of textDeltas(part)) yield this.#chunk(`${before}${JSON.stringify(text)}}`);
  }

  *#argumentDeltas(part: ToolAction, index: number): Generator<string> {
    const before = `{"tool_calls":[{"index":${index},"function":{"arguments":`;
    for (const text of argumentDeltas(part)) yield this.#chunk(`${before}${JSON.stringify(text)}}}]}`);
  }

  noise(noise: Noise): string {
    return sseNoise(noise);
  }

  error(error: ErrorAction): string {
    return `data: ${JSON.stringify(errorBody(shapeOf(error, this.#ask)))}\n\n`;
  }

  close({ stop, usage }: Outcome): string {
    const last = this.#chunk("{}", JSON.stringify(STOPS[stop] ?? stop));
    const counts = { ...this.#envelope("chat.completion.chunk"), choices: [], ...(usage && { usage: usageOf(usage) }) };
    const usageFrame = this.#withUsage && usage !== undefined ? `data: ${JSON.stringify(counts)}\n\n` : "";
    return `${last}${usageFrame}data: [DONE]\n\n`;
  }

  whole(parts: readonly Part[], { stop, usage }: Outcome): JsonObject {
    const textOf = (type: "text" | "thinking") =>
      parts.flatMap((part) => (part.type === type ? [fullText(part)] : [])).join("");
    const calls = parts.flatMap((part) => (part.type === "tool" ? [this.#toolCall(part, part.args)] : []));
    const thinking = textOf("thinking");
    const message = {
      role: "assistant",
      content: parts.some((part) => part.type === "text") || calls.length === 0 ? textOf("text") : null,
      ...(thinking !== "" && { reasoning_content: thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
      refusal: null,
      annotations: [],
    };
    const { id, object, created, model, ...rest } = this.#envelope("chat.completion");
    return {
      id,
      object,
      created,
      model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: STOPS[stop] ?? stop }],
      ...(usage && { usage: usageOf(usage) }),
      ...rest,
    };
  }

  #chunk(delta: string, finish = "null"): string {
    return `${this.#before}${delta},"logprobs":null,"finish_reason":${finish}${this.#after}`;
  }

  #envelope(object: string): JsonObject {
    const { id, created, model } = this.#head;
    return { id, object, created, model, service_tier: "default", system_fingerprint: "fp_0123456789" };
  }

  #toolCall(part: ToolAction, args: string): JsonObject {
    const id = part.id ?? this.#service.ids.id("call_", 24);
    return { id, type: "function", function: { name: part.name, arguments: args } };
  }
}

/** The prompt's tokens include the cached ones here. */
function usageOf(usage: Usage): JsonObject {
  const prompt = usage.input + usage.cache_read + usage.cache_write;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cache_read, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
