/** `fetch` on Oxbow's own HTTP client, which knows proxies, certificates and the credential helper. Redirects are not followed. */
import type { FetchLike } from "@modelcontextprotocol/client";
import type { HttpClient, HttpRequest, HttpResponse } from "../../system/http-client.js";

const TIMEOUTS = { connectMs: 10_000 } as const;
/** An answer that is not a stream of events is one message. */
const MOST_BYTES = 32 * 1024 * 1024;
const NO_BODY = new Set([101, 204, 205, 304]);

export function fetchWith(http: HttpClient): FetchLike {
  return async (input, init = {}) => {
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
    return answerOf(response);
  };
}

function bodyText(body: unknown): string {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError("Only text can be sent.");
}

function answerOf(response: HttpResponse): Response {
  const { status, headers } = response;
  const isStream = (headers["content-type"] ?? "").startsWith("text/event-stream");
  const stream = NO_BODY.has(status) ? null : streamOf(response, isStream ? Number.POSITIVE_INFINITY : MOST_BYTES);
  if (stream === null) response.release();
  return new Response(stream, { status, headers });
}

function streamOf(response: HttpResponse, most: number): ReadableStream<Uint8Array> {
  const pieces = response.body[Symbol.asyncIterator]();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await pieces.next();
        if (next.done) return controller.close();
        bytes += next.value.length;
        if (bytes > most) throw new Error("The answer of the server is too long.");
        controller.enqueue(next.value);
      } catch (error) {
        response.destroy();
        controller.error(error);
      }
    },
    cancel: () => response.destroy(),
  });
}
