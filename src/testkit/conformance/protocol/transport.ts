/**
 * Describes how the suite reaches a server. It uses plain JSON and no code of the engine or of a client, so that it judges both.
 *
 * A connection is one client: a socket, or the requests that carry one token.
 */
import type { Identity } from "../../../protocol/client.js";
import type { JsonObject } from "../../../protocol/json.js";

export interface ConformanceTransport {
  /** `http`, `ws`, `unix`, `stdio`, `inproc`. */
  readonly name: string;
  /** Says what it can do; a scenario that needs more is skipped. */
  readonly abilities: ReadonlySet<Ability>;
  /** Without a token of its own, an agent uses that of the human, and says in the handshake that it is an agent. */
  connect(identity: Identity, token?: OtherToken): Promise<ConformanceConnection>;
  close(): Promise<void>;
}

/** `agent`: clients with the identity agent. `many`: several clients at once. `tokens`: the server gets a token. */
export type Ability = "agent" | "many" | "tokens";

/** Instead of the right one. */
export type OtherToken = "forged" | "missing";

/** As the server sent it; `ok` and `failure` are what the protocol says. */
export type ConformanceReply = JsonObject;

export interface ConformanceConnection {
  handshake(hello: JsonObject): Promise<ConformanceReply>;
  command(body: JsonObject): Promise<ConformanceReply>;
  query(body: JsonObject): Promise<ConformanceReply>;
  /** Follows the events of a session, after one of them or from now on. */
  follow(request: FollowRequest): Promise<ConformanceReply>;
  unfollow(session: string): Promise<void>;
  /** Closes the connection without a word. */
  drop(): Promise<void>;
}

export interface FollowRequest {
  readonly session: string;
  readonly after?: number;
  /** The time of that event. */
  readonly at?: string;
  readonly onEvent: (event: JsonObject) => void;
}
