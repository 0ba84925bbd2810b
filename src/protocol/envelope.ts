/** The one JSON envelope that carries an event on every transport, in the log and in exports. */
import type { EventKind, EventPayloads } from "./events.js";
import type { ClientId, SessionId } from "./ids.js";

export interface EnvelopeOf<K extends EventKind> {
  /** Monotonic per session, from 1. */
  readonly id: number;
  readonly kind: K;
  readonly session: SessionId;
  /** The client whose input started the turn this belongs to. */
  readonly originator: ClientId;
  /** RFC 3339, UTC, milliseconds. */
  readonly ts: string;
  readonly payload: EventPayloads[K];
}

export type Envelope = { [K in EventKind]: EnvelopeOf<K> }[EventKind];
