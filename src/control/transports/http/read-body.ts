/**
 * Bodies of requests, as JSON objects.
 *
 * 1. A body has at most `limit` bytes. All bodies that are being read have at most `MOST_TOGETHER` bytes together.
 * 2. It is UTF-8 and JSON, and not nested so deep that code which walks it overflows the stack.
 */
import type { IncomingMessage } from "node:http";
import { nestingOf } from "../../../base/json-nesting.js";
import { type Failure, failure } from "../../../protocol/errors.js";
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";

export const MOST_BODY_BYTES = 16 * 1024 * 1024;
const MOST_TOGETHER = 4 * MOST_BODY_BYTES;
const MOST_LEVELS = 100;

type Read<T> = T | { readonly failure: Failure };

export class BodyReader {
  readonly #limit: number;
  #reading = 0;

  constructor(limit = MOST_BODY_BYTES) {
    this.#limit = limit;
  }

  /** An empty body is an empty object. */
  async read(request: IncomingMessage): Promise<Read<{ readonly body: JsonObject }>> {
    const bytes = await this.#bytes(request);
    return "failure" in bytes ? bytes : parseObject(bytes.bytes);
  }

  async #bytes(request: IncomingMessage): Promise<Read<{ readonly bytes: Buffer }>> {
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
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (nestingOf(text) > MOST_LEVELS) return invalid(`The JSON has more than ${MOST_LEVELS} levels.`);
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? { body: value } : invalid("The JSON must be an object.");
  } catch (error) {
    return invalid(`This is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function invalid(detail: string): { readonly failure: Failure } {
  return { failure: failure("InvalidInput", { detail }) };
}
