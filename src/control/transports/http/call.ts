/** One request, as the handler of a route sees it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Clock } from "../../../base/clock.js";
import type { CommandReply } from "../../../protocol/client.js";
import type { CommandKind } from "../../../protocol/commands.js";
import { type Failure, failure } from "../../../protocol/errors.js";
import { isId, type SessionId } from "../../../protocol/ids.js";
import type { JsonObject, JsonValue } from "../../../protocol/json.js";
import type { Queries, QueryKind } from "../../../protocol/queries.js";
import type { TokenClaims } from "../../auth/claims.js";
import type { Tokens } from "../../auth/tokens.js";
import type { HostClient } from "../../connected-client.js";
import type { BodyReader } from "./read-body.js";
import { errorBody, errorHeaders, statusOf } from "./refusal.js";
import type { Caller, RestClients } from "./rest-clients.js";

/** Describes how a request reached the server. */
export type PlaceKind = "socket" | "loopback" | "network";

/** Describes what the routes of a server share. */
export interface Service {
  readonly tokens: Tokens;
  readonly clients: RestClients;
  readonly bodies: BodyReader;
  readonly clock: Clock;
  readonly openApi: () => JsonObject;
  /** Shows the web client on a port, and returns its address with a code to sign in. */
  readonly openWeb?: ((asked: WebAsked) => Promise<WebAddress>) | undefined;
  /** Streams and sockets that are open; the server ends them when it closes. */
  readonly open: Set<{ end(): void }>;
}

export interface WebAsked {
  readonly port?: number;
  /** For other machines of the network: what they see are the sessions in these folders. Absent: this machine alone. */
  readonly lan?: { readonly folders: readonly string[] };
}

export interface WebAddress {
  /** `http://127.0.0.1:41234` */
  readonly address: string;
  /** The same with a code that signs in one page, once. */
  readonly url: string;
  /** Until when the code is valid. */
  readonly expires_at: string;
  /** Of the certificate, in the network. */
  readonly fingerprint?: string;
}

export interface RouteEnvironment {
  Bindings: HttpBindings & { readonly place: PlaceKind };
  Variables: { claims: TokenClaims };
}

/** Ends the handling of a request with an error response. */
export class Refused extends Error {
  readonly failure: Failure;

  constructor(cause: Failure) {
    super(cause.message);
    this.failure = cause;
  }
}

export function refuse(reason: Parameters<typeof failure>[0], detail: string): Refused {
  return new Refused(failure(reason, { detail }));
}

export class Call {
  readonly context: Context<RouteEnvironment>;
  readonly service: Service;

  constructor(context: Context<RouteEnvironment>, service: Service) {
    this.context = context;
    this.service = service;
  }

  get request(): IncomingMessage {
    return this.context.env.incoming;
  }

  get response(): ServerResponse {
    return this.context.env.outgoing as ServerResponse;
  }

  get place(): PlaceKind {
    return this.context.env.place;
  }

  /** Absent only on routes that work without a token. */
  get claims(): TokenClaims | undefined {
    return this.context.get("claims");
  }

  /** A client that has shaken hands. */
  get client(): HostClient {
    return this.service.clients.find(this.caller, this.#named());
  }

  /** A client that only reads, so it needs no handshake. */
  get reader(): HostClient {
    return this.service.clients.reader(this.caller, this.#named());
  }

  get session(): SessionId {
    const id = this.context.req.param("id") ?? "";
    if (isId("sess", id)) return id;
    throw new Refused(failure("SessionNotFound", { session: id.slice(0, 60) }));
  }

  /** The session that the query names, if it names one. */
  get sessionInQuery(): SessionId | undefined {
    const id = this.context.req.query("session");
    if (id === undefined || isId("sess", id)) return id;
    throw refuse("InvalidInput", '"session" must be the id of a session (sess_…).');
  }

  async body(): Promise<JsonObject> {
    const read = await this.service.bodies.read(this.request);
    if ("failure" in read) throw new Refused(read.failure);
    return read.body;
  }

  /** A number in the query. */
  number(name: string): number | undefined {
    const text = this.context.req.query(name);
    if (text === undefined) return undefined;
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw refuse("InvalidInput", `"${name}" must be a whole number.`);
  }

  /** Sends a command; the door of the host checks the payload. */
  async send(kind: CommandKind, payload: JsonObject, session?: SessionId): Promise<CommandReply & { ok: true }> {
    const reply = await this.client.send(kind, payload as never, session);
    if (!reply.ok) throw new Refused(reply.failure);
    return reply;
  }

  async query<K extends QueryKind>(
    kind: K,
    request: JsonObject = {},
    session?: SessionId,
  ): Promise<Queries[K]["answer"]> {
    const reply = await this.reader.query(kind, request as never, session);
    if (!reply.ok) throw new Refused(reply.failure);
    return reply.answer;
  }

  json(value: object | JsonValue, status = 200): Response {
    const headers = { "content-type": "application/json" };
    return this.context.body(JSON.stringify(value), status as ContentfulStatusCode, headers);
  }

  /** Refuses a request without a token. */
  get caller(): Caller {
    const { claims, place } = this;
    if (claims === undefined) throw refuse("Unauthorized", "send it as X-Oxbow-Token.");
    return { claims, place };
  }

  #named(): string | undefined {
    const name = this.context.req.header("x-oxbow-client");
    if (name === undefined || isId("cli", name)) return name;
    throw refuse("InvalidInput", "X-Oxbow-Client must be the id of a client (cli_…).");
  }
}

/** A page that this server has served. The browser says so: no page can set its origin. */
export function isOwnPage({ headers: { host, origin = "" } }: Pick<IncomingMessage, "headers">): boolean {
  return (
    host !== undefined && /^https?:\/\//i.test(origin) && origin.toLowerCase().endsWith(`://${host.toLowerCase()}`)
  );
}

export function errorResponse(context: Context, cause: Failure): Response {
  return context.json(errorBody(cause), statusOf(cause) as ContentfulStatusCode, errorHeaders(cause));
}
