/**
 * How the suite reaches a server. It uses plain JSON and no code of the engine or of a client, so that it judges both.
 *
 * A connection is one client: a socket, or the requests that carry one token.
 */
import type { Identity } from "../../../protocol/client.js";
import type { JsonObject } from "../../../protocol/json.js";

export interface ConformanceTransport {
  /** `http`, `ws`, `unix`, `stdio`, `inproc`. */
  readonly name: string;
  /** What it can do; a scenario that needs more is skipped. */
  readonly abilities: ReadonlySet<Ability>;
  connect(identity: Identity): Promise<ConformanceConnection>;
  close(): Promise<void>;
}

/** `agent`: clients with the identity agent. `many`: several clients at once. */
export type Ability = "agent" | "many";

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
  readonly onEvent: (event: JsonObject) => void;
}
