/**
 * A wire checks a request as the real service would, extracts the values that scripts test, and encodes an answer. Requests are
 * plain data, so a wire knows nothing about sockets, the order of scripts or time.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import type { Usage } from "../../../protocol/usage.js";
import type { ErrorAction, Noise, Part } from "../script/script.js";
import type { IdMint } from "./id-mint.js";
import type { ModelList } from "./model-list.js";
import type { OllamaModels } from "./ollama-models.js";

export type WireName = "anthropic" | "openai" | "openai-responses" | "gemini" | "ollama";

export interface Incoming {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject | string;
  /** The body comes in these pieces instead, with a pause before each; they stop when the client disconnects. */
  readonly pieces?: { readonly texts: Iterable<string>; readonly everyMs: number };
}

/** The state of the service. */
export interface Service {
  readonly key: string | undefined;
  readonly models: ModelList;
  /** Says which models are on the disk and in memory, as Ollama sees it. */
  readonly installed: OllamaModels;
  readonly ids: IdMint;
  wall(): number;
  now(): number;
}

/** A request in the terms that scripts use. */
export interface Ask {
  readonly model: string;
  readonly stream: boolean;
  /** The framing of a stream where the client can choose; default: events. */
  readonly framing?: "list";
  readonly system: string;
  readonly messages: number;
  /** Text of the last user message that has any. */
  readonly lastUser: string;
  readonly lastToolResult: string | undefined;
  /** The results since the model's last message. */
  readonly toolResults: readonly string[];
  readonly tools: readonly string[];
  readonly inputTokens: number;
  readonly body: JsonObject;
}

export interface Outcome {
  /** A word of `STOP_REASONS` or a literal. */
  readonly stop: string;
  /** Undefined: leave the usage out. */
  readonly usage: Usage | undefined;
}

/** One frame for each delta, and the frames around them. */
export interface PartFrames {
  readonly before: string;
  readonly deltas: Iterable<string>;
  readonly after: string;
}

export interface Encoder {
  readonly streamType: string;
  /** The frames that begin a stream, before the first part if there is one already. */
  open(first: Part | undefined): string;
  part(part: Part): PartFrames;
  noise(noise: Noise): string;
  error(error: ErrorAction): string;
  /** The frames that complete a stream. */
  close(outcome: Outcome): string;
  /** The answer to a request without a stream. */
  whole(parts: readonly Part[], outcome: Outcome): JsonObject;
  /** Tells why the real service could not send this part; absent if it can send every part. */
  problem?(part: Part): ErrorAction | undefined;
}

export interface Wire {
  readonly name: WireName;
  /** Answers of the service without a model: mostly refusals. */
  respond(request: Incoming, service: Service): HttpAnswer | undefined;
  read(body: JsonObject, request: Incoming): Ask;
  /** Milliseconds before the model can begin, and the state from then on. */
  warmUp?(ask: Ask, service: Service): { readonly ms: number; done(): void };
  headers(service: Service): Readonly<Record<string, string>>;
  error(error: ErrorAction, context: { readonly service: Service; readonly ask?: Ask }): HttpAnswer;
  encoder(ask: Ask, context: { readonly service: Service; readonly usage: Usage | undefined }): Encoder;
}

/* ---- reading JSON that may be anything ---- */

export function parseBody(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

export function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The text of a content that is a string or a list of blocks. */
export function plainText(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  const blocks = asList(content)
    .filter(isJsonObject)
    .filter((block) => block.type === "text");
  return blocks.map((block) => asText(block.text)).join("\n");
}

/** About four letters a token. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
