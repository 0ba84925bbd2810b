/**
 * The MCP server over streamable HTTP, beside the other routes of the listeners, which check tokens, hosts and origins.
 *
 * 1. Each token has its own client of the engine. It is an agent's, also if the token is a person's: a program speaks MCP, not a person.
 * 2. The revision 2026-07-28 has no sessions. Those of 2025 have, and belong to the token that began them.
 */

import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHandlerRequestOptions,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { type Failure, failure } from "../../../protocol/errors.js";
import type { ClientId } from "../../../protocol/ids.js";
import { type IdentityClaims, identityOf } from "../../auth/identity.js";
import type { ServiceLog } from "../../auth/refused-tokens.js";
import type { HostClient } from "../../connected-client.js";
import type { Host } from "../../host.js";
import { type EngineOfferOptions, engineOffer } from "./engine-offer.js";
import { EventMemory } from "./event-memory.js";
import type { McpOffer } from "./offer.js";
import { createMcpServer, type McpServerOptions } from "./server.js";
import { listenedResources, Subscriptions } from "./subscriptions.js";

export interface McpMountOptions extends Pick<EngineOfferOptions, "clock" | "onSession" | "onQuestion"> {
  readonly version: string;
  readonly host: Pick<Host, "connect">;
  readonly newClientId: () => ClientId;
  readonly log: ServiceLog;
  /** Holds what stands behind the server instead of the engine. */
  readonly offer?: McpOffer;
}

/** Of a token: what this transport needs to know. */
export interface McpClaims extends IdentityClaims {
  readonly jti: string;
  readonly display_name?: string;
}

export interface McpMountClient {
  readonly claims: McpClaims;
  /** Reads the body within the limits of the server. */
  readBody(): Promise<{ readonly value: unknown } | { readonly failure: Failure }>;
}

export interface McpMount {
  readonly path: "/mcp";
  handle(request: IncomingMessage, response: ServerResponse, client: McpMountClient): void;
  /** The token is no longer valid. */
  drop(jti: string): void;
  close(): void;
}

const MOST_TOKENS = 256;
const MOST_SESSIONS = 64;
/** After which a client opens a broken stream again. */
const RETRY_MS = 1000;
const MOST_IN_BATCH = 100;
const IDLE_MS = 60 * 60 * 1000;

export function mcpMount(options: McpMountOptions): McpMount {
  const tokens = new Map<string, TokenServer>();
  const drop = (jti: string) => {
    tokens.get(jti)?.close();
    tokens.delete(jti);
  };
  const dropIdle = () => {
    const before = options.clock.now() - IDLE_MS;
    for (const [jti, server] of [...tokens]) if (server.isIdleSince(before)) drop(jti);
    const [oldest] = tokens.size >= MOST_TOKENS ? tokens.keys() : [];
    if (oldest !== undefined) drop(oldest);
  };
  return {
    path: "/mcp",
    handle(request, response, client) {
      const { claims } = client;
      let server = tokens.get(claims.jti);
      if (server === undefined) {
        dropIdle();
        server = new TokenServer(options, claims);
        tokens.set(claims.jti, server);
      }
      server.handle(request, response, client);
    },
    drop,
    close: () => {
      for (const jti of [...tokens.keys()]) drop(jti);
    },
  };
}

function handshakeOf(client: HostClient): Pick<EngineOfferOptions, "handshake"> {
  const reply = client.handshake();
  return reply.ok ? { handshake: reply.handshake } : {};
}

type FetchOptions = McpHandlerRequestOptions | undefined;

/** The server for one token. */
class TokenServer {
  readonly #options: McpMountOptions;
  readonly #client: HostClient;
  readonly #offer: McpOffer;
  readonly #subscriptions = new Subscriptions();
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  readonly #stopPublishing: () => void;
  readonly #answer: (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>;
  #open = 0;
  #usedAt = 0;

  constructor(options: McpMountOptions, claims: McpClaims) {
    const { host, newClientId, log } = options;
    this.#options = options;
    const { display_name: name } = claims;
    const { scope } = identityOf(claims);
    const identity = { identity: "agent", canAnswer: false, transport: "mcp" } as const;
    this.#client = host.connect({ id: newClientId(), ...identity, scope, ...(name !== undefined && { name }) });
    this.#offer = options.offer ?? engineOffer({ ...options, client: this.#client, ...handshakeOf(this.#client) });
    const onerror = (error: Error) => log("transport.mcp", error.message);
    this.#modern = createMcpHandler(() => this.#server("transport"), { legacy: "reject", onerror });
    this.#stopPublishing = this.#offer.watch((uri, event) => {
      for (const each of this.#subscriptions.named(uri)) this.#publish(each, event);
    }, this.#subscriptions.wants);
    const answer = toNodeHandler({ fetch: (request, given) => this.#fetch(request, given) }, { onerror });
    this.#answer = answer as (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>;
  }

  isIdleSince(time: number): boolean {
    return this.#open === 0 && this.#usedAt < time;
  }

  handle(request: IncomingMessage, response: ServerResponse, { readBody }: McpMountClient): void {
    const { clock } = this.#options;
    this.#open++;
    this.#usedAt = clock.now();
    response.once("close", () => {
      this.#open--;
      this.#usedAt = clock.now();
    });
    void this.#read(request, response, readBody).catch(() => response.destroy());
  }

  /** The library would parse a body several times, whatever is in it. */
  async #read(request: IncomingMessage, response: ServerResponse, readBody: McpMountClient["readBody"]): Promise<void> {
    if (request.method !== "POST") return this.#answer(request, response, undefined);
    const read = await readBody();
    if ("failure" in read) return refuseMessage(response, read.failure);
    if (Array.isArray(read.value) && read.value.length > MOST_IN_BATCH) {
      return refuseMessage(response, failure("TooLarge", { what: "The batch", limit: `${MOST_IN_BATCH} messages` }));
    }
    return this.#answer(request, response, read.value);
  }

  close(): void {
    this.#stopPublishing();
    void this.#modern.close();
    for (const transport of this.#sessions.values()) void transport.close();
    this.#sessions.clear();
    this.#client.close();
  }

  #publish(uri: string, event?: object): void {
    this.#modern.bus.publish({ kind: "resource_updated", uri, ...(event && { params: { contents: event } }) });
  }

  #server(announces: McpServerOptions["announces"]) {
    const subscriptions = announces === "itself" ? new Subscriptions() : this.#subscriptions;
    return createMcpServer({ offer: this.#offer, version: this.#options.version, subscriptions, announces });
  }

  async #fetch(request: Request, given: FetchOptions): Promise<Response> {
    if (await isLegacyRequest(request, given?.parsedBody)) return this.#legacy(request, given);
    if (request.method === "POST") await this.#look(given?.parsedBody ?? (await bodyOf(request)));
    return this.#modern.fetch(request, given);
  }

  /** The library answers `subscriptions/listen` without a handler of ours. */
  async #look(message: unknown): Promise<void> {
    for (const uri of listenedResources(message)) {
      if (!(await this.#subscriptions.follow(this.#offer, uri))) continue;
      // After the answer that begins the stream.
      setImmediate(() => void this.#offer.replay(uri, (event) => this.#publish(uri, event)));
    }
  }

  async #legacy(request: Request, given: FetchOptions): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id !== null) {
      const known = this.#sessions.get(id);
      return known === undefined ? notFound() : known.handleRequest(request, given);
    }
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventMemory(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (session) => this.#keep(session, transport),
      onsessionclosed: (session) => void this.#sessions.delete(session),
    });
    await this.#server("itself").connect(transport);
    const response = await transport.handleRequest(request, given);
    // It began no session: nothing will come over it again.
    if (transport.sessionId === undefined) await transport.close();
    return response;
  }

  #keep(session: string, transport: WebStandardStreamableHTTPServerTransport): void {
    const [oldest] = this.#sessions.size >= MOST_SESSIONS ? this.#sessions : [];
    if (oldest !== undefined) {
      this.#sessions.delete(oldest[0]);
      void oldest[1].close();
    }
    this.#sessions.set(session, transport);
  }
}

async function bodyOf(request: Request): Promise<unknown> {
  try {
    return await request.clone().json();
  } catch {
    return undefined;
  }
}

/** As the protocol says it: nothing is known of the message that was refused. */
function refuseMessage(response: ServerResponse, { reason, message }: Failure): void {
  const isLarge = reason === "TooLarge";
  const error = { code: isLarge ? -32600 : -32700, message };
  response.writeHead(isLarge ? 413 : 400, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
}

function notFound(): Response {
  const error = { code: -32001, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}
