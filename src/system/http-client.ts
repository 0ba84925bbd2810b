/**
 * HTTP requests whose answers are read while they arrive, on `node:http` and `node:https` with connections that are kept.
 * (Global `fetch` takes about 145 ms at its first use on Node 20, which would be paid by every first answer.)
 *
 * 1. Everything that goes wrong on the way is an HttpError that says in which phase; nothing else is thrown or left unhandled.
 * 2. Bytes that arrived before a connection broke are delivered before the error.
 * 3. A signal that fires destroys the socket at once. A finished exchange holds no listener on the signal.
 * 4. A redirect is an answer like any other: a key is never carried to another host.
 *
 * Compression is never asked for. Proxies (HTTPS_PROXY) are not supported yet.
 */
import type * as NodeHttp from "node:http";
import type { LookupFunction } from "node:net";
import { onAbort } from "../base/abort-tree.js";
import { type Clock, systemClock } from "../base/clock.js";
import { HttpBody } from "./http-body.js";
import { HttpError, networkDetail } from "./http-error.js";

export interface HttpTimeouts {
  /** To have a connection, TLS included. */
  readonly connectMs?: number;
  /** Without a byte from the server, before the answer or in the middle of it. */
  readonly idleMs?: number;
}

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly timeouts?: HttpTimeouts;
  /** Where the host's name leads. A connection made this way serves this request alone. */
  readonly lookup?: LookupFunction;
  /** A Unix socket to send it through; the address's host is then only a name. */
  readonly socketPath?: string;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be iterated once. Each piece is all that has arrived since the last. */
  readonly body: AsyncIterable<Uint8Array>;
  /** A small body as text, cut at `limitBytes`: for errors and lists. Never throws, and never waits for long. */
  text(limitBytes: number): Promise<string>;
  /** No more is wanted. The connection is kept if the rest turns out to be short. */
  release(): void;
  /** No more is wanted and the server shall stop. Does nothing to a body that has ended or was released. */
  destroy(): void;
}

export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Closes idle connections. */
  close(): void;
}

export interface HttpClientOptions {
  readonly clock?: Clock;
}

type Transport = Pick<typeof NodeHttp, "request" | "Agent">;

const MAX_FREE_SOCKETS = 8;

export function createHttpClient({ clock = systemClock }: HttpClientOptions = {}): HttpClient {
  const agents = new Map<string, NodeHttp.Agent>();
  return {
    async request(request) {
      const url = parseUrl(request.url);
      const transport: Transport = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
      if (request.lookup !== undefined) return exchange(transport, request, { url, agent: false, clock });
      let agent = agents.get(url.protocol);
      if (agent === undefined) {
        agent = new transport.Agent({ keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS });
        agents.set(url.protocol, agent);
      }
      try {
        return await exchange(transport, request, { url, agent, clock });
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error;
        return await exchange(transport, request, { url, agent: false, clock });
      }
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

/** The server had closed a kept connection just when it was used again; nothing of the request was answered. */
class StaleConnection extends HttpError {}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new HttpError("connect", "this is not an http or https address", "ERR_INVALID_URL");
}

interface Exchange {
  readonly url: URL;
  readonly agent: NodeHttp.Agent | false;
  readonly clock: Clock;
}

function exchange(transport: Transport, request: HttpRequest, { url, agent, clock }: Exchange): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const { signal, timeouts = {} } = request;
    if (signal?.aborted) throw aborted();
    const payload = request.body === undefined ? undefined : Buffer.from(request.body);
    const outgoing = open(transport, { url, agent, request, length: payload?.length });
    let cause: HttpError | undefined;
    let body: HttpBody | undefined;
    let connected = false;
    let stopTimer = () => {};
    const stop = (error: HttpError) => {
      cause ??= error;
      if (body === undefined) outgoing.destroy(error);
      else body.fail(error);
    };
    const after = (ms: number | undefined, message: string) => {
      stopTimer();
      stopTimer = ms === undefined ? () => {} : clock.after(ms, () => stop(new HttpError("timeout", message)));
    };
    const stopListening = signal === undefined ? () => {} : onAbort(signal, () => stop(aborted()));
    const onConnected = () => {
      connected = true;
      after(timeouts.idleMs, `nothing came back within ${seconds(timeouts.idleMs)}`);
    };
    outgoing.on("socket", (socket) => {
      if (!socket.connecting) return onConnected();
      after(timeouts.connectMs, `no connection within ${seconds(timeouts.connectMs)}`);
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", onConnected);
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      stopTimer();
      stopListening();
      if (cause !== undefined) reject(cause);
      else if (outgoing.reusedSocket && agent !== false)
        reject(new StaleConnection("dropped", error.message, error.code));
      else reject(new HttpError(connected ? "dropped" : "connect", networkDetail(error), error.code));
    });
    outgoing.on("response", (incoming) => {
      stopTimer();
      body = new HttpBody(incoming, {
        clock,
        ...(timeouts.idleMs !== undefined && { idleMs: timeouts.idleMs }),
        onClose: stopListening,
      });
      resolve(body.response());
    });
    outgoing.end(payload);
  });
}

interface Opening {
  readonly url: URL;
  readonly agent: NodeHttp.Agent | false;
  readonly request: HttpRequest;
  readonly length: number | undefined;
}

function open(transport: Transport, { url, agent, request, length }: Opening): NodeHttp.ClientRequest {
  const headers = {
    "user-agent": "oxbow",
    ...request.headers,
    ...(length !== undefined && { "content-length": String(length) }),
  };
  try {
    const { method, lookup, socketPath } = request;
    return transport.request(url, {
      method,
      headers,
      agent,
      ...(lookup !== undefined && { lookup }),
      ...(socketPath !== undefined && { socketPath }),
    });
  } catch (error) {
    // A header that cannot be sent; Node's message names it and leaves its value out.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new HttpError("connect", message, code);
  }
}

function aborted(): HttpError {
  return new HttpError("aborted", "cancelled");
}

function seconds(ms: number | undefined): string {
  return `${(ms ?? 0) / 1000}s`;
}
