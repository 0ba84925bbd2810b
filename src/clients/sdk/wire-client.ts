import type { EngineClient } from "../../protocol/client.js";
import type { Failure } from "../../protocol/errors.js";
import type { Handshake } from "../../protocol/handshake.js";
import type { SessionId } from "../../protocol/ids.js";

/** A client on a wire: it can be closed, and knows what the engine said of itself. */
export interface WireClient extends EngineClient {
  readonly handshake: Handshake;
  /** The client no longer follows a session: it ended, or there is a reason: the engine refuses, or is out of reach. */
  onDetached(listener: DetachListener): () => void;
  /** Resolves when the engine knows that this client has left. */
  close(): Promise<void>;
}

export type DetachListener = (session: SessionId, reason?: Failure) => void;
