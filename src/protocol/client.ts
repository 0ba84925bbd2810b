/** How anything that drives an engine sees it, whatever transport lies between. */
import type { CommandKind, CommandPayloads } from "./commands.js";
import type { Envelope } from "./envelope.js";
import type { Failure } from "./errors.js";
import type { ClientId, SessionId } from "./ids.js";
import type { JsonValue } from "./json.js";

export type CommandReply =
  | { readonly ok: true; readonly session?: SessionId; readonly value?: JsonValue }
  | { readonly ok: false; readonly failure: Failure };

/** Said when a client attaches, and kept: an agent never answers for a person (feature P4). */
export type Identity = "human" | "agent";

export interface EngineClient {
  readonly id: ClientId;
  readonly identity: Identity;
  /** Accepts a command; what comes of it arrives as events. `CreateSession` takes no session. */
  send<K extends CommandKind>(kind: K, payload: CommandPayloads[K], session?: SessionId): Promise<CommandReply>;
  /** Every event of the sessions this client is attached to, in order. */
  subscribe(listener: (event: Envelope) => void): () => void;
}
