/**
 * JSON of clients: bodies of requests, frames of WebSockets, lines of standard input.
 *
 * 1. A body has at most `limit` bytes. All bodies that are being read have at most `MOST_TOGETHER` bytes together.
 * 2. It is UTF-8 and JSON, and not nested so deep that code which walks it overflows the stack.
 * 3. It has few values: parsing millions of them would hold up every other client. Long texts and images are one value each.
 * 4. It is looked at piece by piece, while it arrives or with turns for others between. What breaks 1 to 3 is refused at the first piece that
 *    shows it, and nothing of it is kept.
 */
import type { IncomingMessage } from "node:http";
import { JsonMeter } from "../../../base/json-nesting.js";
import { type Failure, failure } from "../../../protocol/errors.js";
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";

export const MOST_BODY_BYTES = 16 * 1024 * 1024;
const MOST_TOGETHER = 4 * MOST_BODY_BYTES;
const MOST_LEVELS = 100;
export const MOST_VALUES = 50_000;
/** The number of bytes to look at in one turn of the event loop. */
export const MOST_AT_ONCE = 256 * 1024;

type Read<T> = T | { readonly failure: Failure };

export class BodyReader {
  readonly #limit: number;
  #reading = 0;

  constructor(limit = MOST_BODY_BYTES) {
    this.#limit = limit;
  }

  /** An empty body is an empty object. */
  async read(request: IncomingMessage): Promise<Read<{ readonly body: JsonObject }>> {
    const read = await this.readAny(request);
    if ("failure" in read) return read;
    return read.value === undefined ? { body: {} } : objectOf(read.value);
  }

  /** Undefined for an empty body. */
  async readAny(request: IncomingMessage): Promise<Read<{ readonly value: unknown }>> {
    if (request.headers["content-encoding"] !== undefined) return invalid("Send the body without compression.");
    const declared = Number(request.headers["content-length"] ?? 0);
    if (declared > this.#limit) return this.#tooLarge();
    const reader = new JsonReader();
    let size = 0;
    try {
      for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += piece.length;
        this.#reading += piece.length;
        if (size > this.#limit) return this.#tooLarge();
        if (this.#reading > MOST_TOGETHER) return busy();
        const problem = reader.take(piece);
        if (problem !== undefined) return problem;
      }
      return size === 0 ? { value: undefined } : reader.end();
    } finally {
      this.#reading -= size;
    }
  }

  #tooLarge(): { readonly failure: Failure } {
    return { failure: failure("TooLarge", { what: "The body", limit: `${this.#limit} bytes` }) };
  }
}

/** One JSON text of a client, in pieces. */
class JsonReader {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  readonly #meter = new JsonMeter();
  #text = "";

  /** Tells why the rest is not wanted. */
  take(piece: Uint8Array): { readonly failure: Failure } | undefined {
    try {
      const text = this.#decoder.decode(piece, { stream: true });
      this.#meter.take(text);
      this.#text += text;
    } catch (error) {
      return notJson(error);
    }
    if (this.#meter.levels > MOST_LEVELS) return invalid(`The JSON has more than ${MOST_LEVELS} levels.`);
    if (this.#meter.values <= MOST_VALUES) return undefined;
    return { failure: failure("TooLarge", { what: "The JSON", limit: `${MOST_VALUES} values` }) };
  }

  end(): Read<{ readonly value: unknown }> {
    try {
      return { value: JSON.parse(this.#text + this.#decoder.decode()) };
    } catch (error) {
      return notJson(error);
    }
  }
}

/** For the frames of a WebSocket and of standard input. A large one takes several turns of the event loop. */
export function parseObject(
  bytes: Uint8Array,
): Read<{ readonly body: JsonObject }> | Promise<Read<{ readonly body: JsonObject }>> {
  if (bytes.length === 0) return { body: {} };
  const reader = new JsonReader();
  if (bytes.length > MOST_AT_ONCE) return parseLarge(bytes, reader);
  return finished(reader.take(bytes) ?? reader.end());
}

async function parseLarge(bytes: Uint8Array, reader: JsonReader): Promise<Read<{ readonly body: JsonObject }>> {
  for (let from = 0; from < bytes.length; from += MOST_AT_ONCE) {
    const problem = reader.take(bytes.subarray(from, from + MOST_AT_ONCE));
    if (problem !== undefined) return problem;
    await new Promise(setImmediate);
  }
  return finished(reader.end());
}

/** Tells why a library may not parse this text; looked at in several turns of the event loop. Undefined if it may. */
export async function jsonProblem(bytes: Uint8Array): Promise<Failure | undefined> {
  const reader = new JsonReader();
  for (let from = 0; from < bytes.length; from += MOST_AT_ONCE) {
    if (from > 0) await new Promise(setImmediate);
    const problem = reader.take(bytes.subarray(from, from + MOST_AT_ONCE));
    if (problem !== undefined) return problem.failure;
  }
  return undefined;
}

function finished(read: Read<{ readonly value: unknown }>): Read<{ readonly body: JsonObject }> {
  return "failure" in read ? read : objectOf(read.value);
}

function objectOf(value: unknown): Read<{ readonly body: JsonObject }> {
  return isJsonObject(value as JsonObject) ? { body: value as JsonObject } : invalid("The JSON must be an object.");
}

function busy(): { readonly failure: Failure } {
  return { failure: failure("TooManyRequests", { seconds: 1 }, { retryable: true, retry_after_ms: 1000 }) };
}

function notJson(error: unknown): { readonly failure: Failure } {
  const words = error instanceof Error ? error.message : String(error);
  return invalid(`This is not JSON: ${words.slice(0, MOST_WORDS)}.`);
}

const MOST_WORDS = 200;

function invalid(detail: string): { readonly failure: Failure } {
  return { failure: failure("InvalidInput", { detail }) };
}
