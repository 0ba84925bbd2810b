/** OpenAI Responses: named server-sent events about items, each with its number, and the whole response at the end. */
import type { JsonObject } from "../../../protocol/json.js";
import type { Usage } from "../../../protocol/usage.js";
import type { ErrorAction, Noise, Part } from "../script/script.js";
import { argumentDeltas, fullText, textDeltas } from "./deltas.js";
import { shapeOf } from "./openai-errors.js";
import { encryptReasoning } from "./responses-check.js";
import { sseNoise } from "./sse-noise.js";
import { type Ask, asList, type Encoder, type Outcome, type PartFrames, type Service } from "./wire.js";

/** The reasons for an incomplete response; with any other stop reason it is complete. */
const CUTS: Readonly<Record<string, string>> = { length: "max_output_tokens", refusal: "content_filter" };
const COMPLETE = new Set(["end", "tool", "pause", "stop-sequence"]);

export class ResponsesEncoder implements Encoder {
  readonly streamType = "text/event-stream; charset=utf-8";
  readonly #ask: Ask;
  readonly #service: Service;
  readonly #head: JsonObject;
  readonly #output: JsonObject[] = [];
  #events = 0;

  constructor(ask: Ask, service: Service) {
    this.#ask = ask;
    this.#service = service;
    this.#head = {
      id: service.ids.hex("resp_", 50),
      object: "response",
      created_at: Math.floor(service.wall() / 1000),
    };
  }

  open(): string {
    const response = this.#response({ status: "in_progress", usage: undefined });
    return this.#frame("response.created", { response }) + this.#frame("response.in_progress", { response });
  }

  part(part: Part): PartFrames {
    const index = this.#output.length;
    const item = this.#item(part);
    this.#output.push(item);
    return { before: "", deltas: this.#deltas(part, { index, item }), after: "" };
  }

  /** All frames of an item, made one by one because they are numbered. */
  *#deltas(part: Part, { index, item }: { readonly index: number; readonly item: JsonObject }): Generator<string> {
    const place = { item_id: item.id, output_index: index };
    yield this.#frame("response.output_item.added", { output_index: index, item: announced(item) });
    switch (part.type) {
      case "text": {
        const where = { ...place, content_index: 0 };
        const empty = { type: "output_text", annotations: [], logprobs: [], text: "" };
        yield this.#frame("response.content_part.added", { ...where, part: empty });
        for (const delta of textDeltas(part)) {
          yield this.#frame("response.output_text.delta", { ...where, delta, logprobs: [] });
        }
        const text = fullText(part);
        yield this.#frame("response.output_text.done", { ...where, text, logprobs: [] }) +
          this.#frame("response.content_part.done", { ...where, part: { ...empty, text } });
        break;
      }
      case "thinking": {
        const where = { ...place, summary_index: 0 };
        const empty = { type: "summary_text", text: "" };
        yield this.#frame("response.reasoning_summary_part.added", { ...where, part: empty });
        for (const delta of textDeltas(part)) {
          yield this.#frame("response.reasoning_summary_text.delta", { ...where, delta });
        }
        const text = fullText(part);
        yield this.#frame("response.reasoning_summary_text.done", { ...where, text }) +
          this.#frame("response.reasoning_summary_part.done", { ...where, part: { ...empty, text } });
        break;
      }
      case "tool":
        for (const delta of argumentDeltas(part)) {
          yield this.#frame("response.function_call_arguments.delta", { ...place, delta });
        }
        yield this.#frame("response.function_call_arguments.done", { ...place, arguments: part.args });
        break;
      case "redacted-thinking":
        break;
    }
    yield this.#frame("response.output_item.done", { output_index: index, item });
  }

  noise(noise: Noise): string {
    return sseNoise(noise, { event: "response.output_text.delta" });
  }

  error(error: ErrorAction): string {
    const { code, type, message, param = null } = shapeOf(error, this.#ask);
    return this.#frame("error", { code: code ?? type, message, param });
  }

  close(outcome: Outcome): string {
    const response = this.#ended(outcome);
    return this.#frame(`response.${response.status}`, { response });
  }

  whole(parts: readonly Part[], outcome: Outcome): JsonObject {
    for (const part of parts) this.#output.push(this.#item(part));
    return this.#ended(outcome);
  }

  #ended({ stop, usage }: Outcome): JsonObject {
    if (COMPLETE.has(stop)) return this.#response({ status: "completed", usage });
    const details = { incomplete_details: { reason: CUTS[stop] ?? stop } };
    return { ...this.#response({ status: "incomplete", usage }), ...details };
  }

  #response({ status, usage }: { readonly status: string; readonly usage: Usage | undefined }): JsonObject {
    const { body, model } = this.#ask;
    return {
      ...this.#head,
      status,
      background: false,
      error: null,
      incomplete_details: null,
      instructions: body.instructions ?? null,
      max_output_tokens: body.max_output_tokens ?? null,
      model,
      output: status === "in_progress" ? [] : this.#output,
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      store: body.store ?? true,
      temperature: 1,
      text: { format: { type: "text" } },
      tool_choice: "auto",
      tools: body.tools ?? [],
      top_p: 1,
      truncation: "disabled",
      usage: usage === undefined ? null : usageOf(usage),
      user: null,
      metadata: {},
    };
  }

  #item(part: Part): JsonObject {
    const { ids } = this.#service;
    switch (part.type) {
      case "text": {
        const content = [{ type: "output_text", annotations: [], logprobs: [], text: fullText(part) }];
        return { id: ids.hex("msg_", 50), type: "message", status: "completed", role: "assistant", content };
      }
      case "thinking": {
        const summary = [{ type: "summary_text", text: fullText(part) }];
        return { id: ids.hex("rs_", 50), type: "reasoning", ...this.#encrypted(part.signature), summary };
      }
      case "redacted-thinking":
        return { id: ids.hex("rs_", 50), type: "reasoning", encrypted_content: part.data, summary: [] };
      case "tool": {
        const call = { call_id: part.id ?? ids.id("call_", 24), name: part.name, arguments: part.args };
        return { id: ids.hex("fc_", 50), type: "function_call", status: "completed", ...call };
      }
    }
  }

  #encrypted(signature: string | undefined): JsonObject {
    if (!asList(this.#ask.body.include).includes("reasoning.encrypted_content")) return {};
    return { encrypted_content: signature ?? encryptReasoning(this.#service.ids) };
  }

  #frame(type: string, fields: JsonObject): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#events++, ...fields })}\n\n`;
  }
}

/** The item as announced, without its later content. */
function announced(item: JsonObject): JsonObject {
  if (item.type === "message") return { ...item, status: "in_progress", content: [] };
  return item.type === "reasoning" ? { ...item, summary: [] } : { ...item, status: "in_progress", arguments: "" };
}

function usageOf(usage: Usage): JsonObject {
  const input = usage.input + usage.cache_read + usage.cache_write;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cache_read },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}
