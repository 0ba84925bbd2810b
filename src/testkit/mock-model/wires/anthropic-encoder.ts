/** Anthropic Messages: server-sent events with names, as the service sends them today. */
import type { JsonObject, JsonValue } from "../../../protocol/json.js";
import type { Usage } from "../../../protocol/usage.js";
import type { ErrorAction, Noise, Part, ToolAction } from "../script/script.js";
import { signThinking } from "./anthropic-check.js";
import { shapeOf } from "./anthropic-errors.js";
import { argumentDeltas, fullText, textDeltas } from "./deltas.js";
import { sseNoise } from "./sse-noise.js";
import { type Ask, type Encoder, type Outcome, type PartFrames, parseBody, type Service } from "./wire.js";

const STOPS: Readonly<Record<string, string>> = {
  end: "end_turn",
  tool: "tool_use",
  length: "max_tokens",
  refusal: "refusal",
  pause: "pause_turn",
  "stop-sequence": "stop_sequence",
};

export class MessagesEncoder implements Encoder {
  readonly streamType = "text/event-stream; charset=utf-8";
  readonly #ask: Ask;
  readonly #service: Service;
  readonly #usage: Usage | undefined;
  #index = 0;

  constructor(ask: Ask, { service, usage }: { readonly service: Service; readonly usage: Usage | undefined }) {
    this.#ask = ask;
    this.#service = service;
    this.#usage = usage;
  }

  open(): string {
    const usage = this.#usage === undefined ? undefined : { ...this.#usage, output: 1 };
    const message = this.#message([], {
      ending: { stop_reason: null, stop_sequence: null, stop_details: null },
      usage,
    });
    return frame("message_start", { type: "message_start", message });
  }

  part(part: Part): PartFrames {
    const index = this.#index++;
    const start = frame("content_block_start", {
      type: "content_block_start",
      index,
      content_block: this.#emptyBlock(part),
    });
    return {
      // The service sends a ping once the first block has begun.
      before: index === 0 ? start + PING : start,
      deltas: deltas(part, index),
      after: frame("content_block_stop", { type: "content_block_stop", index }),
    };
  }

  noise(noise: Noise): string {
    return sseNoise(noise, { ping: PING, event: "content_block_delta" });
  }

  error(error: ErrorAction): string {
    const { type, message } = shapeOf(error, this.#ask);
    return frame("error", { type: "error", error: { details: null, type, message } });
  }

  close({ stop, usage }: Outcome): string {
    const counts = usage && {
      input_tokens: usage.input,
      cache_creation_input_tokens: usage.cache_write,
      cache_read_input_tokens: usage.cache_read,
      output_tokens: usage.output,
      ...thinkingTokens(usage),
    };
    const delta = { type: "message_delta", delta: ending(stop), ...(counts && { usage: counts }) };
    return frame("message_delta", delta) + frame("message_stop", { type: "message_stop" });
  }

  whole(parts: readonly Part[], { stop, usage }: Outcome): JsonObject {
    const content = parts.map((part) => this.#fullBlock(part));
    return this.#message(content, { ending: ending(stop), usage });
  }

  #message(
    content: readonly JsonObject[],
    { ending, usage }: { ending: JsonObject; usage: Usage | undefined },
  ): JsonObject {
    return {
      model: this.#ask.model,
      id: this.#service.ids.id("msg_01", 22),
      type: "message",
      role: "assistant",
      content,
      ...ending,
      ...(usage && {
        usage: {
          input_tokens: usage.input,
          cache_creation_input_tokens: usage.cache_write,
          cache_read_input_tokens: usage.cache_read,
          cache_creation: { ephemeral_5m_input_tokens: usage.cache_write, ephemeral_1h_input_tokens: 0 },
          output_tokens: usage.output,
          ...thinkingTokens(usage),
          service_tier: "standard",
        },
      }),
    };
  }

  #emptyBlock(part: Part): JsonObject {
    switch (part.type) {
      case "text":
        return { type: "text", text: "" };
      case "thinking":
        return { type: "thinking", thinking: "", signature: "" };
      case "redacted-thinking":
        return { type: "redacted_thinking", data: part.data };
      case "tool":
        return this.#toolUse(part, {});
    }
  }

  #fullBlock(part: Part): JsonObject {
    switch (part.type) {
      case "text":
        return { type: "text", text: fullText(part) };
      case "thinking":
        return {
          type: "thinking",
          thinking: fullText(part),
          signature: part.signature ?? signThinking(fullText(part)),
        };
      case "tool":
        return this.#toolUse(part, parseBody(part.args) ?? part.args);
      default:
        return this.#emptyBlock(part);
    }
  }

  #toolUse(part: ToolAction, input: JsonValue): JsonObject {
    const id = part.id ?? this.#service.ids.id("toolu_01", 22);
    return { type: "tool_use", id, name: part.name, input, caller: { type: "direct" } };
  }
}

const PING = 'event: ping\ndata: {"type": "ping"}\n\n';

function frame(event: string, data: JsonObject): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

function* deltas(part: Part, index: number): Generator<string> {
  const before = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":`;
  switch (part.type) {
    case "text":
      for (const text of textDeltas(part)) yield `${before}"text_delta","text":${JSON.stringify(text)}}}\n\n`;
      return;
    case "thinking": {
      for (const text of textDeltas(part)) yield `${before}"thinking_delta","thinking":${JSON.stringify(text)}}}\n\n`;
      const signature = part.signature ?? signThinking(fullText(part));
      yield `${before}"signature_delta","signature":${JSON.stringify(signature)}}}\n\n`;
      return;
    }
    case "tool":
      yield `${before}"input_json_delta","partial_json":""}}\n\n`;
      // The service sends no argument text at all for a call without arguments.
      if (part.args.trim() === "{}") return;
      for (const text of argumentDeltas(part)) {
        yield `${before}"input_json_delta","partial_json":${JSON.stringify(text)}}}\n\n`;
      }
      return;
    case "redacted-thinking":
      return;
  }
}

function ending(stop: string): JsonObject {
  const reason = STOPS[stop] ?? stop;
  const details = reason === "refusal" ? { type: "refusal", category: null, explanation: null } : null;
  return { stop_reason: reason, stop_sequence: null, stop_details: details };
}

function thinkingTokens(usage: Usage): JsonObject {
  return usage.reasoning === 0 ? {} : { output_tokens_details: { thinking_tokens: usage.reasoning } };
}
