/**
 * The events of a connection on their way to its listeners.
 *
 * 1. Each event of a session arrives once and in order, however often the connection dropped.
 * 2. Events from before the first listener wait for it.
 */
import { EarlyListeners } from "../../base/early-listeners.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";
import type { StatusInfo } from "../../protocol/queries.js";

/** Such an event may be for this connection alone. It is in no log then, and has the id of the event before it. */
const OF_CONNECTION: ReadonlySet<Envelope["kind"]> = new Set(["Notice", "StreamGap", "TokenExpiring"]);

/** Their time may not be that of the event in the log whose id they have. */
const OF_OTHER_TIME: ReadonlySet<Envelope["kind"]> = new Set([...OF_CONNECTION, "SessionEnded"]);

/** The event after which to resume. */
export interface Position {
  readonly after: number;
  /** The time of that event, if it is known: after a crash another event may have its id. */
  readonly after_ts?: string;
}

export class Deliveries {
  readonly #listeners = new EarlyListeners<Envelope>();
  /** The last event of each session. */
  readonly #positions = new Map<SessionId, Position>();

  subscribe(listener: (event: Envelope) => void): () => void {
    return this.#listeners.add(listener);
  }

  position(session: SessionId): Position | undefined {
    return this.#positions.get(session);
  }

  /** Events up to this one are not delivered. */
  begin(session: SessionId, position: Position): void {
    this.#positions.set(session, position);
  }

  forget(session: SessionId): void {
    this.#positions.delete(session);
  }

  deliver(event: Envelope): void {
    const { session, kind, ts } = event;
    const before = this.#positions.get(session);
    const last = before?.after ?? 0;
    const reached = reachedBy(event);
    if (!isLoss(event) && (reached < last || (reached === last && !OF_CONNECTION.has(kind)))) return;
    if (before === undefined || reached !== last) {
      this.#positions.set(session, { after: reached, ...(!OF_OTHER_TIME.has(kind) && { after_ts: ts }) });
    }
    this.#listeners.deliver(event, (listener) => this.#deliver(listener, event));
  }

  /** A listener that throws must not stop the stream for the others. */
  #deliver(listener: (event: Envelope) => void, event: Envelope): void {
    try {
      listener(event);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/** The end of the events that a session has now. */
export function endOf({ last_event: after, last_event_ts: ts }: StatusInfo): Position {
  return { after, ...(ts !== undefined && { after_ts: ts }) };
}

/** The server reports a gap with the id before it; the events of the gap will not come. */
function reachedBy(event: Envelope): number {
  if (event.kind !== "StreamGap") return event.id;
  const { from, to } = event.payload;
  return isLoss(event) ? from - 1 : Math.max(event.id, to);
}

/** The engine was killed before it saved these events. Others come with their ids. */
function isLoss({ kind, payload }: Envelope): boolean {
  return kind === "StreamGap" && payload.reason === "lost";
}
