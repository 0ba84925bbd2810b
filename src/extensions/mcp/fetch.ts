/** `fetch` on Oxbow's own HTTP client, which knows proxies, certificates and the credential helper. Redirects are not followed. */
import type { FetchLike } from "@modelcontextprotocol/client";
import type { HttpClient, HttpRequest, HttpResponse } from "../../system/http-client.js";
import type { FloodGuard } from "./flood-guard.js";

const TIMEOUTS = { connectMs: 10_000 } as const;
const NO_BODY = new Set([101, 204, 205, 304]);

/** Answers beyond the limits of the guard end with an error, and further requests are refused. */
export function fetchWith(http: HttpClient, guard: FloodGuard): FetchLike {
  return async (input, init = {}) => {
    guard.count("requests", 1);
    refuseFlood(guard);
    const method = (init.method ?? "GET").toUpperCase() as HttpRequest["method"];
    const headers = Object.fromEntries(new Headers(init.headers));
    const response = await http.request({
      method,
      url: String(input),
      headers,
      timeouts: TIMEOUTS,
      ...(init.body !== undefined && init.body !== null && { body: bodyText(init.body) }),
      ...(init.signal && { signal: init.signal }),
    });
    return answerOf(response, guard);
  };
}

function bodyText(body: unknown): string {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError("Only text can be sent.");
}

function answerOf(response: HttpResponse, guard: FloodGuard): Response {
  const { status, headers } = response;
  const stream = NO_BODY.has(status) ? null : streamOf(response, guard);
  if (stream === null) response.release();
  return new Response(stream, { status, headers });
}

function streamOf(response: HttpResponse, guard: FloodGuard): ReadableStream<Uint8Array> {
  const isEvents = (response.headers["content-type"] ?? "").startsWith("text/event-stream");
  // Any other answer is one message.
  const count = isEvents ? new EventCount() : undefined;
  const pieces = response.body[Symbol.asyncIterator]();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await pieces.next();
        if (next.done) return controller.close();
        bytes += next.value.length;
        guard.count("bytes", next.value.length);
        if (count !== undefined) guard.count("messages", count.take(next.value));
        guard.isLength(count?.open ?? bytes);
        refuseFlood(guard);
        controller.enqueue(next.value);
      } catch (error) {
        response.destroy();
        controller.error(error);
      }
    },
    cancel: () => response.destroy(),
  });
}

function refuseFlood({ problem }: FloodGuard): void {
  if (problem !== undefined) throw new Error(`The server ${problem}.`);
}

const LINE_FEED = 10;
const RETURN = 13;

/** Counts the events of an event stream by their bytes, before anything parses them. Comments between blank lines count, too. */
export class EventCount {
  #line = 0;
  #open = 0;
  #afterReturn = false;

  /** The bytes of the event that has not ended. */
  get open(): number {
    return this.#open;
  }

  /** Counts how many events end in this piece. */
  take(piece: Uint8Array): number {
    let ended = 0;
    for (const byte of piece) {
      const isSecondHalf = byte === LINE_FEED && this.#afterReturn;
      this.#afterReturn = byte === RETURN;
      if (isSecondHalf) continue;
      this.#open++;
      if (byte !== LINE_FEED && byte !== RETURN) {
        this.#line++;
        continue;
      }
      if (this.#line === 0) {
        ended++;
        this.#open = 0;
      }
      this.#line = 0;
    }
    return ended;
  }
}
