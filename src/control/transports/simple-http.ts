/**
 * One harness over HTTP. `GET /events` streams events, `POST /prompt` starts a prompt,
 * `POST /cancel` stops it.
 *
 * 1. Every reader of `/events` gets every event from the moment its answer began, in order.
 * 2. A prompt is accepted (202) or refused (409) at once; only the events show how it went.
 * 3. After `close()` no socket and no timer is left.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "../../base/clock.js";
import { nearest } from "../../base/nearest.js";
import { isJsonObject } from "../../protocol/json.js";
import { EventStream } from "./event-stream.js";
import type { LocalAccess } from "./local-access.js";
import type { HarnessEvent } from "./simple-events.js";

/** What the server needs of a harness. */
export interface ServedHarness {
  readonly busy: boolean;
  prompt(content: string): Promise<unknown>;
  cancel(): void;
  subscribe(listener: (event: HarnessEvent) => void): () => void;
}

export interface ServerOptions {
  /** A token of your own, or `false` for none: then every program of this machine may use the server. Default: random. */
  readonly token?: string | false;
  /** Pages on other addresses that may use it, such as `http://localhost:5173`. */
  readonly origins?: readonly string[];
  /** The largest body of `POST /prompt`; default: 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Receives the error of every accepted prompt that failed or was cancelled. Clients see it as the message of the `idle` status. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
}

export interface ListenOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** Default: 127.0.0.1. Only addresses of this machine are accepted. */
  readonly host?: string;
}

export interface ListeningServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Undefined if it is off. */
  readonly token: string | undefined;
  /** Ends all connections. The harness keeps working. */
  close(): Promise<void>;
}

export interface HarnessServer {
  listen(options?: ListenOptions): Promise<ListeningServer>;
}

const MAX_BODY_BYTES = 1024 * 1024;
const TOKEN_BYTES = 32;
const RUNNING: Refused = {
  status: 409,
  message: "A prompt is already running. Wait for the idle status, or POST /cancel first.",
};

const KNOWN: Readonly<Record<keyof ServerOptions, true>> = {
  token: true,
  origins: true,
  maxBodyBytes: true,
  onError: true,
  clock: true,
};

/** A mistyped `token` would silently have no effect. */
function refuseUnknown(options: ServerOptions): void {
  const names = Object.keys(KNOWN);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, names);
  const advice = near === undefined ? `There are ${names.join(", ")}.` : `Did you mean ${near}?`;
  throw new Error(`createServer() has no option "${unknown}". ${advice}`);
}

export function createServer(harness: ServedHarness, options: ServerOptions = {}): HarnessServer {
  refuseUnknown(options);
  return { listen: (place = {}) => listen(harness, options, place) };
}

async function listen(
  harness: ServedHarness,
  options: ServerOptions,
  { port = 0, host = "127.0.0.1" }: ListenOptions,
): Promise<ListeningServer> {
  // Loaded here, so that a program without a server does not pay for it.
  const [http, { randomBytes }, { inUrl, LocalAccess, loopbackAddress }] = await Promise.all([
    import("node:http"),
    import("node:crypto"),
    import("./local-access.js"),
  ]);
  const address = loopbackAddress(host);
  if (options.token === "") throw new Error("An empty token would allow everyone. Omit it, or use `token: false`.");
  const token = options.token === false ? undefined : (options.token ?? randomBytes(TOKEN_BYTES).toString("base64url"));
  const server = http.createServer();
  const bound = await bind(server, { port, address });
  const access = new LocalAccess({
    address,
    port: bound,
    origins: options.origins ?? [],
    ...(token !== undefined && { token }),
  });
  const surface = new SimpleSurface(harness, access, options);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => surface.handle(request, response));
  let closed: Promise<void> | undefined;
  const close = () =>
    new Promise<void>((resolve) => {
      surface.close();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://${inUrl(address)}:${bound}`,
    token,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

function bind(server: Server, place: { readonly port: number; readonly address: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "the port is in use" : (cause.code ?? cause.message);
      reject(new Error(`Cannot listen on ${place.address} port ${place.port}: ${reason}.`, { cause }));
    });
    server.listen(place.port, place.address, () => resolve((server.address() as AddressInfo).port));
  });
}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

interface Route {
  readonly method: "GET" | "POST";
  readonly answer: Answer;
}

interface Refused {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

class SimpleSurface {
  readonly #harness: ServedHarness;
  readonly #access: LocalAccess;
  readonly #options: ServerOptions;
  readonly #clock: Clock;
  readonly #streams = new Set<EventStream>();
  readonly #unsubscribe: () => void;
  readonly #routes: ReadonlyMap<string, Route> = new Map<string, Route>([
    ["/events", { method: "GET", answer: (_request, response) => this.#stream(response) }],
    ["/prompt", { method: "POST", answer: (request, response) => this.#prompt(request, response) }],
    ["/cancel", { method: "POST", answer: (_request, response) => this.#cancel(response) }],
  ]);

  constructor(harness: ServedHarness, access: LocalAccess, options: ServerOptions) {
    this.#harness = harness;
    this.#access = access;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#unsubscribe = harness.subscribe((event) => this.#onEvent(event));
  }

  close(): void {
    this.#unsubscribe();
    for (const stream of this.#streams) stream.end();
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    response.setHeader("x-content-type-options", "nosniff");
    const { origin } = request.headers;
    if (this.#access.isAllowedForeign(origin)) {
      response.setHeader("access-control-allow-origin", origin);
      response.setHeader("vary", "origin");
    }
    const found = this.#find(request);
    if ("status" in found) refuse(response, found);
    // Reading a body can fail when the client has disconnected; then there is no one to answer.
    else Promise.resolve(found.answer(request, response)).catch(() => response.destroy());
  }

  #find({ method = "", url, headers }: IncomingMessage): { readonly answer: Answer } | Refused {
    const badAddress = this.#access.refuseAddress(headers);
    if (badAddress !== undefined) return badAddress;
    if (method === "OPTIONS" && this.#access.isAllowedForeign(headers.origin)) return { answer: answerPreflight };
    const target = parseTarget(url);
    if (target === undefined) return { status: 400, message: "The address of the request is invalid." };
    const { pathname, searchParams } = target;
    // EventSource cannot set a header. No other request needs the token in its address.
    const inQuery = method === "GET" && pathname === "/events" ? searchParams.get("token") : null;
    const badToken = this.#access.refuseToken(headers, inQuery ?? undefined);
    if (badToken !== undefined) return { ...badToken, headers: { "www-authenticate": "Bearer" } };
    const route = this.#routes.get(pathname);
    if (route === undefined) {
      return { status: 404, message: `There is no ${pathname}. There are GET /events, POST /prompt and POST /cancel.` };
    }
    if (route.method === method) return route;
    const message = `${pathname} takes ${route.method}, not ${method}.`;
    return { status: 405, message, headers: { allow: route.method } };
  }

  #stream(response: ServerResponse): void {
    const stream: EventStream = new EventStream(response, {
      clock: this.#clock,
      onClose: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
  }

  #onEvent(event: HarnessEvent): void {
    if (this.#streams.size === 0) return;
    const stamped = event.type === "status" ? event : { ...event, timestamp: Math.floor(this.#clock.wall() / 1000) };
    const data = JSON.stringify(stamped);
    for (const stream of this.#streams) stream.send(data);
  }

  async #prompt(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const limit = this.#options.maxBodyBytes ?? MAX_BODY_BYTES;
    const body = await readBody(request, limit);
    const read = body === undefined ? tooLarge(limit) : readPrompt(body);
    if ("status" in read) refuse(response, read);
    else if (this.#harness.busy) refuse(response, RUNNING);
    else {
      this.#harness.prompt(read.content).catch((error: unknown) => this.#options.onError?.(error));
      answer(response, 202, { accepted: true });
    }
  }

  #cancel(response: ServerResponse): void {
    const { busy } = this.#harness;
    this.#harness.cancel();
    answer(response, 202, { cancelling: busy });
  }
}

function parseTarget(target = "/"): URL | undefined {
  const base = "http://localhost";
  return URL.canParse(target, base) ? new URL(target, base) : undefined;
}

/** Undefined if it is too large. The rest is still read, or the sender would not see the response. */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size <= limit) pieces.push(piece);
    else pieces.length = 0;
  }
  return size > limit ? undefined : Buffer.concat(pieces);
}

function tooLarge(limit: number): Refused {
  return { status: 413, message: `The body is larger than ${limit} bytes.` };
}

function readPrompt(body: Buffer): { readonly content: string } | Refused {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    return badBody(error instanceof Error ? error.message : String(error));
  }
  if (!isJsonObject(value) || typeof value.content !== "string") return badBody('"content" is not a string');
  return value.content.trim() === "" ? badBody('"content" is empty') : { content: value.content };
}

function badBody(problem: string): Refused {
  return { status: 400, message: `The body must be JSON such as {"content": "your prompt"}: ${problem}.` };
}

/** A browser asks whether an allowed page may send more than a plain request. */
function answerPreflight(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "authorization, content-type, x-oxbow-token",
    "access-control-max-age": "600",
  });
  response.end();
}

function refuse(response: ServerResponse, { status, message, headers = {} }: Refused): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  answer(response, status, { error: message });
}

function answer(response: ServerResponse, status: number, body: object): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
  });
  response.end(text);
}
