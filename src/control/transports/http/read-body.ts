/**
 * Bodies of requests, as JSON objects.
 *
 * 1. A body has at most `limit` bytes. All bodies that are being read have at most `MOST_TOGETHER` bytes together.
 * 2. It is UTF-8 and JSON, and not nested so deep that code which walks it overflows the stack.
 * 3. It has few values: parsing millions of them would hold up every other client. Long texts and images are one value each.
 */
import type { IncomingMessage } from "node:http";
import { jsonShape } from "../../../base/json-nesting.js";
import { type Failure, failure } from "../../../protocol/errors.js";
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";

export const MOST_BODY_BYTES = 16 * 1024 * 1024;
const MOST_TOGETHER = 4 * MOST_BODY_BYTES;
const MOST_LEVELS = 100;
export const MOST_VALUES = 50_000;

type Read<T> = T | { readonly failure: Failure };

export class BodyReader {
  readonly #limit: number;
  #reading = 0;

  constructor(limit = MOST_BODY_BYTES) {
    this.#limit = limit;
  }

  /** An empty body is an empty object. */
  async read(request: IncomingMessage): Promise<Read<{ readonly body: JsonObject }>> {
    const bytes = await this.bytes(request);
    return "failure" in bytes ? bytes : parseObject(bytes.bytes);
  }

  async bytes(request: IncomingMessage): Promise<Read<{ readonly bytes: Buffer }>> {
    if (request.headers["content-encoding"] !== undefined) return invalid("Send the body without compression.");
    const declared = Number(request.headers["content-length"] ?? 0);
    if (declared > this.#limit) return this.#tooLarge();
    const pieces: Buffer[] = [];
    let size = 0;
    try {
      for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += piece.length;
        this.#reading += piece.length;
        if (size > this.#limit) return this.#tooLarge();
        if (this.#reading > MOST_TOGETHER) return busy();
        pieces.push(piece);
      }
      return { bytes: Buffer.concat(pieces) };
    } finally {
      this.#reading -= size;
    }
  }

  #tooLarge(): { readonly failure: Failure } {
    return { failure: failure("TooLarge", { what: "The body", limit: `${this.#limit} bytes` }) };
  }
}

function busy(): { readonly failure: Failure } {
  return { failure: failure("TooManyRequests", { seconds: 1 }, { retryable: true, retry_after_ms: 1000 }) };
}

/** Also for the frames of a WebSocket and of standard input. */
export function parseObject(bytes: Uint8Array): Read<{ readonly body: JsonObject }> {
  if (bytes.length === 0) return { body: {} };
  const read = parseJson(bytes);
  if ("failure" in read) return read;
  return isJsonObject(read.value) ? { body: read.value } : invalid("The JSON must be an object.");
}

/** Parses JSON of a client, if it is neither too deep nor too rich. */
export function parseJson(bytes: Uint8Array): Read<{ readonly value: unknown }> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const { levels, values } = jsonShape(text);
    if (levels > MOST_LEVELS) return invalid(`The JSON has more than ${MOST_LEVELS} levels.`);
    if (values > MOST_VALUES)
      return { failure: failure("TooLarge", { what: "The JSON", limit: `${MOST_VALUES} values` }) };
    return { value: JSON.parse(text) };
  } catch (error) {
    return invalid(`This is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function invalid(detail: string): { readonly failure: Failure } {
  return { failure: failure("InvalidInput", { detail }) };
}
