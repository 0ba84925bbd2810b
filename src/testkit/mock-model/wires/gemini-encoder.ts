/** Gemini: each event is a complete answer with the next part; without `alt=sse` the events are a list. */
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import type { Usage } from "../../../protocol/usage.js";
import type { ErrorAction, Noise, Part, ToolAction } from "../script/script.js";
import { fullText, textDeltas } from "./deltas.js";
import { signPart } from "./gemini-check.js";
import { errorBody, shapeOf } from "./gemini-errors.js";
import { sseNoise } from "./sse-noise.js";
import { type Ask, type Encoder, type Outcome, type PartFrames, parseBody, type Service } from "./wire.js";

const STOPS: Readonly<Record<string, string>> = {
  end: "STOP",
  tool: "STOP",
  length: "MAX_TOKENS",
  refusal: "SAFETY",
  pause: "STOP",
  "stop-sequence": "STOP",
};

export class GenerateEncoder implements Encoder {
  readonly streamType: string;
  readonly #ask: Ask;
  readonly #responseId: string;
  readonly #sse: boolean;
  #frames = 0;
  #thought = false;
  #called = false;
  /** The model's text is not a valid call: the service ends the answer with an error. */
  #malformed = "";

  constructor(ask: Ask, service: Service) {
    this.#ask = ask;
    this.#responseId = service.ids.id("", 23);
    this.#sse = ask.framing !== "list";
    this.streamType = this.#sse ? "text/event-stream" : "application/json; charset=UTF-8";
  }

  open(): string {
    return "";
  }

  part(part: Part): PartFrames {
    return { before: "", deltas: this.#chunks(part), after: "" };
  }

  *#chunks(part: Part): Generator<string> {
    if (part.type === "tool" || part.type === "redacted-thinking") {
      for (const encoded of this.#parts(part)) yield this.#chunk([encoded]);
      return;
    }
    const more = part.type === "thinking" ? { thought: true } : {};
    if (part.type === "thinking") this.#thought = true;
    for (const text of textDeltas(part)) yield this.#chunk([{ text, ...more }]);
  }

  noise(noise: Noise): string {
    return sseNoise(noise);
  }

  error(error: ErrorAction): string {
    return this.#frame(errorBody(shapeOf(error, this.#ask)));
  }

  close(outcome: Outcome): string {
    const last = this.#frame(this.#answer(this.#lastParts(), outcome));
    return this.#sse ? last : `${last}\n]\n`;
  }

  whole(parts: readonly Part[], outcome: Outcome): JsonObject {
    const encoded = parts.flatMap((part) => this.#parts(part));
    return this.#answer([...encoded, ...this.#lastParts()], outcome);
  }

  #parts(part: Part): readonly JsonObject[] {
    switch (part.type) {
      case "text":
        return [{ text: fullText(part) }];
      case "thinking":
        this.#thought = true;
        return [{ text: fullText(part), thought: true }];
      case "redacted-thinking":
        return [{ text: "", thought: true, thoughtSignature: part.data }];
      case "tool":
        return this.#call(part);
    }
  }

  /** The first of several calls carries the signature. */
  #call(part: ToolAction): readonly JsonObject[] {
    const args = parseBody(part.args);
    if (!isJsonObject(args)) {
      this.#malformed ||= `Malformed function call: ${part.name}(${part.args}`;
      return [];
    }
    const call = { functionCall: { ...(part.id !== undefined && { id: part.id }), name: part.name, args } };
    const first = !this.#called;
    this.#called = true;
    return [first ? { ...call, thoughtSignature: signPart(call) } : call];
  }

  /** After thoughts that led to no call, the signature comes with an empty text. */
  #lastParts(): readonly JsonObject[] {
    const signed = this.#thought && !this.#called;
    return [{ text: "", ...(signed && { thoughtSignature: signPart({}) }) }];
  }

  #chunk(parts: readonly JsonObject[]): string {
    return this.#frame(this.#envelope([{ content: { parts, role: "model" }, index: 0 }]));
  }

  #answer(parts: readonly JsonObject[], { stop, usage }: Outcome): JsonObject {
    const ending =
      this.#malformed === ""
        ? { finishReason: STOPS[stop] ?? stop }
        : { finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: this.#malformed };
    const candidate = { content: { parts, role: "model" }, ...ending, index: 0 };
    return { ...this.#envelope([candidate]), ...(usage && { usageMetadata: usageOf(usage) }) };
  }

  #envelope(candidates: readonly JsonObject[]): JsonObject {
    return { candidates, modelVersion: this.#ask.model, responseId: this.#responseId };
  }

  #frame(data: JsonObject): string {
    const text = JSON.stringify(data);
    if (this.#sse) return `data: ${text}\r\n\r\n`;
    return `${this.#frames++ === 0 ? "[" : ",\r\n"}${text}`;
  }
}

/** The prompt's tokens include the cached ones here, and thoughts are counted separately from the answer. */
function usageOf(usage: Usage): JsonObject {
  const prompt = usage.input + usage.cache_read + usage.cache_write;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: Math.max(0, usage.output - usage.reasoning),
    totalTokenCount: prompt + usage.output,
    ...(usage.cache_read > 0 && { cachedContentTokenCount: usage.cache_read }),
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
  };
}
