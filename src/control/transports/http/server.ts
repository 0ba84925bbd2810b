/**
 * The engine over HTTP and WebSocket: any number of listeners that share clients, tokens and limits.
 *
 * 1. A listener is a Unix socket (mode 0600), a loopback port, or a port for other machines, which needs TLS.
 * 2. Requests have limits in size, time and number. No request and no reader can stop the others.
 * 3. After `close()` no socket, no timer and no file of a socket is left.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import type { Clock } from "../../../base/clock.js";
import { type Failure, failure } from "../../../protocol/errors.js";
import type { ClientId } from "../../../protocol/ids.js";
import type { JsonObject } from "../../../protocol/json.js";
import type { TokenClaims } from "../../auth/claims.js";
import type { ServiceLog } from "../../auth/refused-tokens.js";
import type { Tokens } from "../../auth/tokens.js";
import type { Host } from "../../host.js";
import type { AddressCheck } from "../local-access.js";
import { WebSockets } from "../web-sockets.js";
import { createApp } from "./app.js";
import type { PlaceKind, Service } from "./call.js";
import { Gate } from "./gate.js";
import { openApiDocument } from "./openapi.js";
import { BodyReader } from "./read-body.js";
import { type Refusal, refuseResponse, refuseSocket } from "./refusal.js";
import { RestClients } from "./rest-clients.js";
import { ROUTES } from "./routes/index.js";
import type { WebPages } from "./web-pages.js";

export interface HttpServiceOptions {
  readonly host: Host;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly newClientId: () => ClientId;
  readonly log: ServiceLog;
  readonly mounts?: readonly Mount[];
  /** Opens the web client; absent where there is none. */
  readonly openWeb?: Service["openWeb"];
  readonly limits?: HttpLimits;
  /** Called when a request has been answered. */
  readonly onRequest?: (request: AnsweredRequest) => void;
}

export interface AnsweredRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
}

export interface HttpLimits {
  readonly bodyBytes?: number;
  readonly connections?: number;
  /** Open requests and connections of one token, the owner's excepted. */
  readonly connectionsOfToken?: number;
  /** Says how long a request may take to arrive. */
  readonly requestMs?: number;
}

/** Another protocol on the same listeners. */
export interface Mount {
  readonly path: string;
  handle(request: IncomingMessage, response: ServerResponse, client: MountClient): void;
}

export interface MountClient {
  readonly claims: TokenClaims;
  /** Reads the body of the request within the limits of the server; undefined if it is empty. */
  readBody(): Promise<{ readonly value: unknown } | { readonly failure: Failure }>;
}

export interface Listener {
  readonly server: Server;
  readonly place: PlaceKind;
  /** Undefined for a Unix socket. */
  readonly check: () => AddressCheck | undefined;
}

const MOST_CONNECTIONS = 4096;
const REQUEST_MS = 30_000;
const HEADERS_MS = 10_000;
/** Sets how long a connection without a request stays open. Longer than clients keep one: a request on a connection that closes would be lost. */
const KEEP_MS = 15_000;
const MOST_HEADER_BYTES = 16 * 1024;

export class HttpService {
  readonly #options: HttpServiceOptions;
  readonly #service: Service;
  readonly #gate: Gate;
  readonly #sockets: WebSockets;
  readonly #servers = new Set<Server>();
  readonly #answer: (request: IncomingMessage, response: ServerResponse, place: PlaceKind) => void;
  readonly #stopWatching: () => void;

  constructor(options: HttpServiceOptions) {
    const { host, tokens, clock, newClientId, limits = {}, log } = options;
    this.#options = options;
    const clients = new RestClients({ connect: (client) => host.connect(client), newClientId, clock });
    let document: JsonObject | undefined;
    const openApi = () => {
      document ??= openApiDocument(ROUTES);
      return document;
    };
    const bodies = new BodyReader(limits.bodyBytes);
    this.#service = { tokens, clients, clock, openApi, bodies, open: new Set(), openWeb: options.openWeb };
    this.#gate = new Gate({ tokens, clock, log, mostOfToken: limits.connectionsOfToken });
    this.#sockets = new WebSockets({ ...options, gate: this.#gate, open: this.#service.open });
    this.#stopWatching = tokens.onRevoke((jti) => clients.drop(jti));
    const onFault = (error: unknown) =>
      log("transport.http", "a request failed", {
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    const app = createApp({ routes: ROUTES, service: this.#service, gate: this.#gate, onFault });
    const listenerOf = (place: PlaceKind) =>
      getRequestListener((asked, env) => app.fetch(asked, { ...env, place }), { overrideGlobalObjects: false });
    const listeners = {
      socket: listenerOf("socket"),
      loopback: listenerOf("loopback"),
      network: listenerOf("network"),
    };
    this.#answer = (request, response, place) => void listeners[place](request, response);
  }

  /** A server whose requests this service answers. */
  createServer(options: {
    readonly place: PlaceKind;
    readonly tls?: { readonly cert: string; readonly key: string } | undefined;
    readonly check: () => AddressCheck | undefined;
    /** The web client, if this listener shows it. */
    readonly pages?: WebPages | undefined;
  }): Server {
    const { limits = {} } = this.#options;
    const { requestMs = REQUEST_MS, connections = MOST_CONNECTIONS } = limits;
    const settings = {
      maxHeaderSize: MOST_HEADER_BYTES,
      requestTimeout: requestMs,
      keepAliveTimeout: KEEP_MS,
      headersTimeout: Math.min(HEADERS_MS, requestMs),
      connectionsCheckingInterval: Math.min(5000, requestMs),
    };
    const server =
      options.tls === undefined ? createServer(settings) : createTlsServer({ ...settings, ...options.tls });
    server.maxConnections = connections;
    server.maxHeadersCount = 0;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#logLater(request, response);
      this.#take(request, response, { place: options.place, check: options.check(), pages: options.pages });
    });
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const refusal = this.#gate.refuse(request, options.check());
      if (refusal !== undefined) return refuseSocket(socket, refusal);
      this.#sockets.upgrade(request, socket, { head, place: options.place });
    });
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) =>
      refuseSocket(socket, clientRefusal(error)),
    );
    this.#servers.add(server);
    return server;
  }

  #take(
    request: IncomingMessage,
    response: ServerResponse,
    {
      place,
      check,
      pages,
    }: { readonly place: PlaceKind; readonly check: AddressCheck | undefined; readonly pages?: WebPages | undefined },
  ): void {
    const refusal = this.#gate.refuse(request, check);
    if (refusal !== undefined) {
      refuseResponse(response, refusal);
      return;
    }
    if (check?.isAllowedForeign(request.headers.origin)) {
      response.setHeader("access-control-allow-origin", request.headers.origin ?? "");
      response.setHeader("vary", "origin");
      if (request.method === "OPTIONS") {
        answerPreflight(response);
        return;
      }
    }
    if (pages?.answer(request, response)) return;
    const mount = this.#options.mounts?.find(({ path }) => isBelow(request.url ?? "", path));
    if (mount !== undefined) this.#mounted(mount, { request, response, place });
    else this.#answer(request, response, place);
  }

  /** The query may hold what the user typed, so only the path is logged. */
  #logLater({ method = "", url = "" }: IncomingMessage, response: ServerResponse): void {
    const { onRequest, clock } = this.#options;
    if (onRequest === undefined) return;
    const began = clock.now();
    const [path = ""] = url.slice(0, 200).split("?");
    response.once("close", () =>
      onRequest({ method, path, status: response.statusCode, ms: Math.round(clock.now() - began) }),
    );
  }

  async close(): Promise<void> {
    this.#stopWatching();
    for (const connection of [...this.#service.open]) connection.end();
    await this.#sockets.close();
    await Promise.all([...this.#servers].map(closeServer));
    this.#service.clients.close();
  }

  #mounted(
    mount: Mount,
    at: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly place: PlaceKind },
  ) {
    const { request, response, place } = at;
    const admitted = this.#gate.admit(request, place);
    if ("failure" in admitted) {
      const status = admitted.failure.reason === "TooManyRequests" ? 429 : 401;
      return refuseResponse(response, { status, failure: admitted.failure });
    }
    const entered = this.#gate.enter(admitted.claims);
    if ("failure" in entered) return refuseResponse(response, { status: 429, failure: entered.failure });
    response.once("close", () => entered.leave());
    const readBody = () => this.#service.bodies.readAny(request);
    mount.handle(request, response, { claims: admitted.claims, readBody });
  }
}

/** A browser asks whether an allowed page may send more than a plain request. */
function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-headers": "content-type, last-event-id, x-oxbow-client, x-oxbow-token",
    "access-control-max-age": "600",
  });
  response.end();
}

function isBelow(url: string, path: string): boolean {
  return url === path || url.startsWith(`${path}/`) || url.startsWith(`${path}?`);
}

function clientRefusal({ code }: NodeJS.ErrnoException): Refusal {
  if (code === "HPE_HEADER_OVERFLOW") {
    return {
      status: 431,
      failure: failure("TooLarge", { what: "The head of the request", limit: `${MOST_HEADER_BYTES} bytes` }),
    };
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return { status: 408, failure: failure("InvalidInput", { detail: "The request took too long to arrive." }) };
  }
  return { status: 400, failure: failure("InvalidInput", { detail: "This is not an HTTP request." }) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
