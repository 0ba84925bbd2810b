/** The engine as a client sees it, over any transport. */
import type { CommandKind, CommandPayloads } from "./commands.js";
import type { Envelope } from "./envelope.js";
import type { Failure } from "./errors.js";
import type { ClientId, SessionId } from "./ids.js";
import type { JsonValue } from "./json.js";
import type { Queries, QueryKind } from "./queries.js";

export type CommandReply =
  | { readonly ok: true; readonly session?: SessionId; readonly value?: JsonValue }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** There was no connection, so the command was not sent. */
      readonly unsent?: true;
    };

export type QueryReply<K extends QueryKind> =
  | { readonly ok: true; readonly answer: Queries[K]["answer"] }
  | { readonly ok: false; readonly failure: Failure };

/** Fixed when a client attaches: an agent never answers for a person. */
export type Identity = "human" | "agent";

export interface EngineClient {
  readonly id: ClientId;
  readonly identity: Identity;
  /** Sends a command; its effects arrive as events. `CreateSession` takes no session. */
  send<K extends CommandKind>(kind: K, payload: CommandPayloads[K], session?: SessionId): Promise<CommandReply>;
  /** Looks something up; nothing changes. */
  query<K extends QueryKind>(kind: K, request: Queries[K]["request"], session?: SessionId): Promise<QueryReply<K>>;
  /** Every event of the sessions this client is attached to, in order. */
  subscribe(listener: (event: Envelope) => void): () => void;
}
