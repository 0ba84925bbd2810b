/** One HTTP request and its answer, however it travels: with the `fetch` of a browser, or over a Unix socket (clients/sdk-node). */

export interface ExchangeRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** With the query, from the root of the server. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface ExchangeAnswer {
  readonly status: number;
  text(): Promise<string>;
  /** The body as it arrives. */
  pieces(): AsyncIterable<Uint8Array>;
}

/** Rejects when there is no answer. */
export type Exchange = (request: ExchangeRequest) => Promise<ExchangeAnswer>;

/** There was no connection, so the request did not leave. */
export function isUnsent(error: unknown): boolean {
  const { syscall, cause } = error as { readonly syscall?: unknown; readonly cause?: { readonly syscall?: unknown } };
  return syscall === "connect" || cause?.syscall === "connect";
}

export function fetchExchange(url: string | URL, fetchFunction: typeof fetch = fetch): Exchange {
  const root = new URL(url);
  return async ({ path, ...request }) => {
    const response = await fetchFunction(new URL(path.replace(/^\//, ""), directory(root)), {
      ...request,
      // A token must not follow to another server.
      redirect: "error",
    });
    return {
      status: response.status,
      text: () => response.text(),
      pieces: () => piecesOf(response.body),
    };
  };
}

/** The server may be below a path. */
function directory(url: URL): URL {
  return new URL(url.pathname.endsWith("/") ? url : `${url.origin}${url.pathname}/`);
}

/** Not every browser can iterate over a stream. */
async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
