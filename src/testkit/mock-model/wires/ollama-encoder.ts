/** Ollama's native API: a JSON object a line, the last of them with `done` and the counts. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import type { Usage } from "../../../protocol/usage.js";
import type { ErrorAction, Noise, Part, ToolAction } from "../script/script.js";
import { fullText, textDeltas } from "./deltas.js";
import { messageOf } from "./ollama-errors.js";
import { type Ask, type Encoder, type Outcome, type PartFrames, parseBody, type Service } from "./wire.js";

const STOPS: Readonly<Record<string, string>> = {
  end: "stop",
  tool: "stop",
  length: "length",
  refusal: "stop",
  pause: "stop",
  "stop-sequence": "stop",
};

export class ChatEncoder implements Encoder {
  readonly streamType = "application/x-ndjson";
  readonly #ask: Ask;
  readonly #service: Service;
  readonly #from: number;
  #calls = 0;
  #stampedAt = Number.NaN;
  #before = "";

  constructor(ask: Ask, service: Service) {
    this.#ask = ask;
    this.#service = service;
    this.#from = service.now();
  }

  open(): string {
    return "";
  }

  part(part: Part): PartFrames {
    return { before: "", deltas: this.#deltas(part), after: "" };
  }

  *#deltas(part: Part): Generator<string> {
    switch (part.type) {
      case "text":
        for (const text of textDeltas(part)) yield this.#line(`"content":${JSON.stringify(text)}`);
        return;
      case "thinking":
        for (const text of textDeltas(part)) yield this.#line(`"content":"","thinking":${JSON.stringify(text)}`);
        return;
      case "tool":
        yield this.#line(`"content":"","tool_calls":${JSON.stringify([this.#toolCall(part)])}`);
        return;
      case "redacted-thinking":
        return;
    }
  }

  noise(noise: Noise): string {
    switch (noise.type) {
      case "ping":
      case "comment":
        // NDJSON has neither; clients accept an empty line.
        return "\n";
      case "event":
        return `${noise.data}\n`;
      case "garbage":
        return `${noise.text}\n`;
      case "raw":
        return noise.text;
    }
  }

  error(error: ErrorAction): string {
    return `${JSON.stringify({ error: messageOf(error, this.#ask) })}\n`;
  }

  close(outcome: Outcome): string {
    return `${JSON.stringify(this.#final({ role: "assistant", content: "" }, outcome))}\n`;
  }

  whole(parts: readonly Part[], outcome: Outcome): JsonObject {
    const textOf = (type: "text" | "thinking") =>
      parts.flatMap((part) => (part.type === type ? [fullText(part)] : [])).join("");
    const thinking = textOf("thinking");
    const calls = parts.flatMap((part) => (part.type === "tool" ? [this.#toolCall(part)] : []));
    const message = {
      role: "assistant",
      content: textOf("text"),
      ...(thinking !== "" && { thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return this.#final(message, outcome);
  }

  /** Arguments are an object here, so malformed ones end the answer. */
  problem(part: Part): ErrorAction | undefined {
    if (part.type !== "tool" || isJsonObject(parseBody(part.args))) return undefined;
    const message = `error parsing tool call: raw='${part.args}', err=unexpected end of JSON input`;
    return { type: "error", status: 500, message };
  }

  #line(message: string): string {
    const now = this.#service.wall();
    if (now !== this.#stampedAt) {
      this.#stampedAt = now;
      const head = { model: this.#ask.model, created_at: new Date(now).toISOString() };
      this.#before = `${JSON.stringify(head).slice(0, -1)},"message":{"role":"assistant",`;
    }
    return `${this.#before}${message}},"done":false}\n`;
  }

  #toolCall({ id, name, args }: ToolAction): JsonObject {
    const call = { index: this.#calls++, name, arguments: parseBody(args) as JsonValue };
    return { id: id ?? this.#service.ids.id("call_", 8).toLowerCase(), function: call };
  }

  #final(message: JsonObject, { stop, usage }: Outcome): JsonObject {
    const elapsed = Math.max(1, Math.round((this.#service.now() - this.#from) * 1_000_000));
    return {
      model: this.#ask.model,
      created_at: new Date(this.#service.wall()).toISOString(),
      message,
      done: true,
      done_reason: STOPS[stop] ?? stop,
      total_duration: elapsed + 1_000_000,
      load_duration: 1_000_000,
      ...(usage && counts(usage, elapsed)),
    };
  }
}

function counts(usage: Usage, elapsed: number): JsonObject {
  return {
    prompt_eval_count: usage.input + usage.cache_read + usage.cache_write,
    prompt_eval_duration: 1_000_000,
    eval_count: usage.output,
    eval_duration: elapsed,
  };
}
