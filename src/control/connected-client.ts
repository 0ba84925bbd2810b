/**
 * The connection of one client to the host, over any transport.
 *
 * 1. A client that must shake hands can do nothing before.
 * 2. It gets events of the sessions it is attached to. `follow` adds readers with a listener of their own, for transports where one
 *    client has several streams.
 * 3. Closing it detaches all its readers. No turn stops.
 */
import { EarlyListeners } from "../base/early-listeners.js";
import type { CommandReply, EngineClient, QueryReply } from "../protocol/client.js";
import type { CommandKind, CommandPayloads } from "../protocol/commands.js";
import type { Envelope } from "../protocol/envelope.js";
import { type Failure, failure } from "../protocol/errors.js";
import { type ClientHello, type HandshakeReply, handshake, versionProblem } from "../protocol/handshake.js";
import type { SessionId, TokenId } from "../protocol/ids.js";
import type { ClientInfo, Queries, QueryKind } from "../protocol/queries.js";
import type { AttachedClient, Originator } from "./attached-client.js";
import { refuse } from "./hosted-sessions.js";
import type { ClientScope } from "./scope.js";

export interface ClientOptions extends Originator {
  /** Says whether a person at the client can answer a question. */
  readonly canAnswer: boolean;
  /** `inproc`, `http`, `ws`, `stdio` … */
  readonly transport: string;
  /** The name by which the client calls itself. */
  readonly name?: string | undefined;
  /** Limits what it may do; everything without it. */
  readonly scope?: ClientScope | undefined;
  /** It has the owner's token and came over the socket of this machine. */
  readonly isLocalOwner?: boolean;
  /** It passes on the input of others, who rely on the reply after this process. */
  readonly passesOn?: true;
  /** False: creating a session does not attach it. It follows sessions with `follow`. */
  readonly attachOnCreate?: boolean;
  /** The token that it came with; absent for the owner's. */
  readonly token?: TokenId | undefined;
  /** Refuses everything before a handshake. */
  readonly handshake?: "required";
  /** Waits until it can take more stored events; false if it is gone. */
  readonly ready?: AttachedClient["ready"];
}

export interface FollowOptions {
  readonly after?: number | undefined;
  /** The time of that event. */
  readonly afterTs?: string | undefined;
  /** False: no person sees what this reader gets. */
  readonly canAnswer?: false;
  readonly deliver: (event: Envelope) => void;
  /** Waits until it can take more stored events; false if it is gone. */
  readonly ready?: AttachedClient["ready"];
}

export type Followed =
  | { readonly ok: true; readonly stop: () => void }
  | { readonly ok: false; readonly failure: Failure };

export interface HostClient extends EngineClient {
  handshake(hello?: ClientHello): HandshakeReply;
  /** Adds a reader of one session, as AttachSession does for the client itself. */
  follow(session: SessionId, options: FollowOptions): Promise<Followed>;
  close(): void;
}

/** Describes what the host does for a connected client. */
export interface ClientHost {
  /** It takes no more commands. */
  isClosing(): boolean;
  readonly features: Iterable<string>;
  carryOut<K extends CommandKind>(
    client: AttachedClient,
    command: { readonly kind: K; readonly payload: CommandPayloads[K]; readonly session?: SessionId },
  ): Promise<CommandReply>;
  query<K extends QueryKind>(
    query: { readonly kind: K; readonly request: Queries[K]["request"]; readonly session?: SessionId },
    client: AttachedClient,
  ): Promise<QueryReply<K>>;
  /** The sessions that it is attached to. */
  sessionsOf(client: AttachedClient["id"]): readonly SessionId[];
  /** Detaches all its readers. */
  leave(client: AttachedClient["id"]): void;
  detach(session: SessionId, stream: symbol): void;
}

/** Until a listener comes: resuming a session reports gaps and interrupted turns at once. */
const MOST_EARLY = 1024;

export class ConnectedClient implements HostClient {
  readonly #host: ClientHost;
  readonly #options: ClientOptions;
  #self: AttachedClient;
  readonly #listeners = new EarlyListeners<Envelope>({ most: MOST_EARLY });
  readonly #since: string;
  #name: string | undefined;
  #state: "new" | "ready" | "closed";
  readonly #onClose: () => void;

  constructor(
    host: ClientHost,
    options: ClientOptions,
    { since, onClose }: { readonly since: string; readonly onClose: () => void },
  ) {
    this.#host = host;
    this.#options = options;
    this.#since = since;
    this.#onClose = onClose;
    this.#name = options.name;
    this.#state = options.handshake === "required" ? "new" : "ready";
    const { id, identity, canAnswer, scope, attachOnCreate, ready } = options;
    this.#self = {
      ...{ id, identity, canAnswer, scope, isRemote: options.transport !== "inproc" },
      passesOn: options.passesOn === true,
      isLocalOwner: options.transport === "inproc" || options.isLocalOwner === true,
      ...(attachOnCreate !== undefined && { attachOnCreate }),
      ...(ready !== undefined && { ready }),
      deliver: (event) => this.#listeners.deliver(event),
    };
  }

  get id() {
    return this.#options.id;
  }

  get identity() {
    return this.#self.identity;
  }

  get info(): ClientInfo {
    const { id, transport, token } = this.#options;
    const { identity } = this.#self;
    const name = { ...(this.#name !== undefined && { name: this.#name }), ...(token !== undefined && { token }) };
    return { id, identity, ...name, transport, sessions: this.#host.sessionsOf(id), attached_at: this.#since };
  }

  handshake(hello: ClientHello = {}): HandshakeReply {
    const problem = versionProblem(hello.protocol_version);
    if (problem !== undefined) return refuse(problem);
    const name = hello.client?.name;
    if (typeof name === "string" && name !== "") this.#name = name.slice(0, 100);
    if (hello.client?.can_answer === false) this.#self = { ...this.#self, canAnswer: false, isUnattended: true };
    if (hello.client?.identity === "agent") this.#self = { ...this.#self, identity: "agent", canAnswer: false };
    if (this.#state === "new") this.#state = "ready";
    return { ok: true, handshake: handshake([...this.#host.features], this) };
  }

  async send<K extends CommandKind>(kind: K, payload: CommandPayloads[K], session?: SessionId): Promise<CommandReply> {
    return this.#guarded(() =>
      this.#host.carryOut(this.#self, { kind, payload, ...(session !== undefined && { session }) }),
    );
  }

  async query<K extends QueryKind>(
    kind: K,
    request: Queries[K]["request"],
    session?: SessionId,
  ): Promise<QueryReply<K>> {
    return this.#guarded(() =>
      this.#host.query({ kind, request, ...(session !== undefined && { session }) }, this.#self),
    );
  }

  async follow(session: SessionId, options: FollowOptions): Promise<Followed> {
    const { after, afterTs: ts, deliver, ready, canAnswer = this.#self.canAnswer } = options;
    const stream = Symbol("stream");
    const reader = { ...this.#self, canAnswer, stream, deliver, ...(ready && { ready }) };
    const payload = after === undefined ? {} : { after, ...(ts !== undefined && { after_ts: ts }) };
    const stop = () => this.#host.detach(session, stream);
    const reply = await this.#guarded(() => this.#host.carryOut(reader, { kind: "AttachSession", payload, session }));
    if (!reply.ok) return reply;
    // It was closed while stored events were read.
    if (this.#state === "closed") stop();
    return { ok: true, stop };
  }

  subscribe(listener: (event: Envelope) => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#host.leave(this.id);
    this.#listeners.clear();
    this.#onClose();
  }

  async #guarded<T extends CommandReply | QueryReply<QueryKind>>(
    action: () => Promise<T>,
  ): Promise<T | { readonly ok: false; readonly failure: Failure }> {
    if (this.#state === "new") return refuse(failure("HandshakeRequired"));
    if (this.#state === "closed") {
      if (this.#host.isClosing()) return refuse(failure("ShuttingDown"));
      return refuse(failure("InvalidInput", { detail: "This client has closed its connection." }));
    }
    // In the same process a fault is the caller's to see.
    if (!this.#self.isRemote) return action();
    try {
      return await action();
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      return refuse(failure("Internal", { detail }));
    }
  }
}
