/**
 * HTTP requests with streamed answers, on `node:http` and `node:https` with persistent connections. (The first use of the global
 * `fetch` takes about 145 ms on Node 20, which would delay every first answer.)
 *
 * 1. Every network problem is an HttpError that names the phase; nothing else is thrown or left unhandled.
 * 2. Bytes that arrived before a connection broke are delivered before the error.
 * 3. A signal that fires destroys the socket at once. A finished exchange holds no listener on the signal.
 * 4. A redirect is an answer like any other: a key is never carried to another host.
 * 5. Proxies and certificate authorities come from `network`. Their code is loaded only where one applies.
 *
 * It never asks for compression.
 */
import type * as NodeHttp from "node:http";
import type { LookupFunction } from "node:net";
import { onAbort } from "../base/abort-tree.js";
import { type Clock, systemClock } from "../base/clock.js";
import { HttpBody } from "./http-body.js";
import { HttpError, networkDetail } from "./http-error.js";
import type { Network } from "./network/network.js";
import type { ProxiedWays } from "./network/proxied-way.js";

export interface HttpTimeouts {
  /** The limit for the connection, including TLS. */
  readonly connectMs?: number;
  /** The limit without a byte from the server, before or during the answer. */
  readonly idleMs?: number;
}

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly timeouts?: HttpTimeouts;
  /** Resolves the host's name. Such a connection serves only this request. A proxy resolves the name itself. */
  readonly lookup?: LookupFunction;
  /** A Unix socket to send it through; the address's host is then only a name. */
  readonly socketPath?: string;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Can be iterated once. Each chunk is everything that arrived since the last one. */
  readonly body: AsyncIterable<Uint8Array>;
  /** A small body as text, cut at `limitBytes`: for errors and lists. Never throws, and never waits for long. */
  text(limitBytes: number): Promise<string>;
  /** Drops the rest of the body. The connection stays open if the rest is short. */
  release(): void;
  /** Stops the server. Does nothing if the body has ended or was released. */
  destroy(): void;
}

export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Closes idle connections. */
  close(): void;
}

export interface HttpClientOptions {
  readonly clock?: Clock;
  /** Says how long a connection that is not used stays open. */
  readonly idleMs?: number;
  /** Called once, with the first request. Rejects with a NetworkSettingError. Undefined: all connections are direct. */
  readonly network?: (() => Promise<Network | undefined>) | undefined;
}

export type Transport = Pick<typeof NodeHttp, "request" | "Agent">;

/** Describes how one request leaves this machine. */
export interface Way {
  readonly transport: Transport;
  readonly agent: NodeHttp.Agent | false;
  /** For a request that must not share its connection. */
  readonly freshAgent: () => NodeHttp.Agent | false;
  /** The socket is already connected, including TLS. */
  readonly isTunnel: boolean;
  /** Options that override the address. */
  readonly options?: NodeHttp.ClientRequestArgs;
  readonly headers?: Readonly<Record<string, string>>;
  /** The error for a failed connection. */
  readonly unreached?: (error: NodeJS.ErrnoException) => HttpError;
  /** The error if the answer comes from the proxy instead of the server. */
  readonly refusal?: (answer: NodeHttp.IncomingMessage) => HttpError | undefined;
}

const IDLE_MS = 90_000;
/** For each server. */
const MOST_IDLE = 8;

export function createHttpClient({
  clock = systemClock,
  idleMs = IDLE_MS,
  network,
}: HttpClientOptions = {}): HttpClient {
  const ways = new Ways(network, { keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: idleMs });
  return {
    async request(request) {
      const url = parseUrl(request.url);
      const way = await ways.to(url, request);
      const agent = request.lookup === undefined ? way.agent : way.freshAgent();
      try {
        return await exchange(request, { url, way, agent, clock });
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error;
        return await exchange(request, { url, way, agent: way.freshAgent(), clock });
      }
    },
    close: () => ways.close(),
  };
}

class Ways {
  readonly #open: HttpClientOptions["network"];
  readonly #agents = new Map<string, NodeHttp.Agent>();
  #network: Promise<Network | undefined> | undefined;
  readonly #kept: NodeHttp.AgentOptions;
  #proxied: ProxiedWays | undefined;

  constructor(open: HttpClientOptions["network"], kept: NodeHttp.AgentOptions) {
    this.#open = open;
    this.#kept = kept;
  }

  async to(url: URL, { socketPath }: HttpRequest): Promise<Way> {
    if (this.#open === undefined || socketPath !== undefined) return this.#direct(url, undefined);
    this.#network ??= this.#open();
    try {
      const network = await this.#network;
      const proxy = network?.proxyFor(url);
      if (network === undefined || proxy === undefined) return await this.#direct(url, network);
      this.#proxied ??= new (await import("./network/proxied-way.js")).ProxiedWays(network, this.#kept);
      return await this.#proxied.to(url, proxy);
    } catch (error) {
      // A proxy or certificate file of the settings cannot be used.
      throw new HttpError("connect", (error as Error).message.replace(/\.$/, ""), "ERR_NETWORK_SETTING");
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
    this.#proxied?.close();
  }

  async #direct({ protocol }: URL, network: Network | undefined): Promise<Way> {
    const transport: Transport = await (protocol === "https:" ? import("node:https") : import("node:http"));
    let agent = this.#agents.get(protocol);
    if (agent === undefined) {
      agent = new transport.Agent(this.#kept);
      this.#agents.set(protocol, agent);
    }
    const secureContext = protocol === "https:" ? await network?.secureContext() : undefined;
    return {
      transport,
      agent,
      freshAgent: () => false,
      isTunnel: false,
      ...(secureContext && { options: { secureContext } as NodeHttp.ClientRequestArgs }),
    };
  }
}

/** The server closed a persistent connection just when it was used again; it answered no part of the request. */
class StaleConnection extends HttpError {}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new HttpError("connect", "this is not an http or https address", "ERR_INVALID_URL");
}

interface Exchange {
  readonly url: URL;
  readonly way: Way;
  readonly agent: NodeHttp.Agent | false;
  readonly clock: Clock;
}

function exchange(request: HttpRequest, { url, way, agent, clock }: Exchange): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const { signal, timeouts = {} } = request;
    if (signal?.aborted) throw aborted();
    const payload = request.body === undefined ? undefined : Buffer.from(request.body);
    const outgoing = open(request, { url, way, agent, length: payload?.length });
    let cause: HttpError | undefined;
    let body: HttpBody | undefined;
    let connected = false;
    let stopTimer = () => {};
    const stop = (error: HttpError) => {
      cause ??= error;
      if (body !== undefined) return body.fail(error);
      outgoing.destroy(error);
      // Without a socket Node reports it only after the tunnel is open or has failed.
      if (outgoing.socket === null) giveUp(cause);
    };
    const after = (ms: number | undefined, message: string) => {
      stopTimer();
      stopTimer = ms === undefined ? () => {} : clock.after(ms, () => stop(new HttpError("timeout", message)));
    };
    const stopListening = signal === undefined ? () => {} : onAbort(signal, () => stop(aborted()));
    const onConnecting = () => after(timeouts.connectMs, `no connection within ${seconds(timeouts.connectMs)}`);
    const onConnected = () => {
      connected = true;
      after(timeouts.idleMs, `no response within ${seconds(timeouts.idleMs)}`);
    };
    if (way.isTunnel) onConnecting();
    outgoing.on("socket", (socket) => {
      if (way.isTunnel || !socket.connecting) return onConnected();
      onConnecting();
      socket.once("encrypted" in socket ? "secureConnect" : "connect", onConnected);
    });
    const giveUp = (error: HttpError) => {
      stopTimer();
      stopListening();
      reject(error);
    };
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      giveUp(cause ?? problemOf(error, { outgoing, way, agent, connected }));
    });
    outgoing.on("response", (incoming) => {
      stopTimer();
      const refusal = way.refusal?.(incoming);
      if (refusal !== undefined) {
        stopListening();
        incoming.destroy();
        return reject(refusal);
      }
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

interface Attempt extends Pick<Exchange, "way" | "agent"> {
  readonly outgoing: NodeHttp.ClientRequest;
  readonly connected: boolean;
}

function problemOf(error: NodeJS.ErrnoException, { outgoing, way, agent, connected }: Attempt): HttpError {
  if (error instanceof HttpError) return error;
  if (outgoing.reusedSocket && agent === way.agent) return new StaleConnection("dropped", error.message, error.code);
  if (connected) return new HttpError("dropped", networkDetail(error), error.code);
  return way.unreached?.(error) ?? new HttpError("connect", networkDetail(error), error.code);
}

interface Opening extends Pick<Exchange, "url" | "way" | "agent"> {
  readonly length: number | undefined;
}

function open(request: HttpRequest, { url, way, agent, length }: Opening): NodeHttp.ClientRequest {
  const headers = {
    "user-agent": "oxbow",
    ...request.headers,
    ...(length !== undefined && { "content-length": String(length) }),
    ...way.headers,
  };
  try {
    const { method, lookup, socketPath } = request;
    return way.transport.request(url, {
      method,
      headers,
      agent,
      ...(lookup !== undefined && way.options?.hostname === undefined && { lookup }),
      ...(socketPath !== undefined && { socketPath }),
      ...way.options,
    });
  } catch (error) {
    // An invalid header; Node's message contains its name but not its value.
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
