/**
 * The events of a connection on their way to its listeners.
 *
 * 1. Each event of a session arrives once and in order, however often the connection dropped.
 * 2. Events from before the first listener wait for it.
 */
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";

/** Such an event may be for this connection alone. It is in no log then, and has the id of the event before it. */
const OF_CONNECTION: ReadonlySet<Envelope["kind"]> = new Set(["Notice", "StreamGap", "TokenExpiring"]);

export class Deliveries {
  readonly #listeners = new Set<(event: Envelope) => void>();
  /** The last event of each session. */
  readonly #positions = new Map<SessionId, number>();
  #early: Envelope[] | undefined = [];

  subscribe(listener: (event: Envelope) => void): () => void {
    this.#listeners.add(listener);
    const missed = this.#early ?? [];
    this.#early = undefined;
    for (const event of missed) listener(event);
    return () => this.#listeners.delete(listener);
  }

  position(session: SessionId): number | undefined {
    return this.#positions.get(session);
  }

  /** Events up to this one are not delivered. */
  begin(session: SessionId, after: number): void {
    this.#positions.set(session, after);
  }

  forget(session: SessionId): void {
    this.#positions.delete(session);
  }

  deliver(event: Envelope): void {
    const { session, kind } = event;
    const last = this.#positions.get(session) ?? 0;
    const reached = reachedBy(event);
    if (!isLoss(event) && (reached < last || (reached === last && !OF_CONNECTION.has(kind)))) return;
    this.#positions.set(session, reached);
    this.#early?.push(event);
    for (const listener of this.#listeners) this.#tell(listener, event);
  }

  /** A listener that throws must not stop the stream for the others. */
  #tell(listener: (event: Envelope) => void, event: Envelope): void {
    try {
      listener(event);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
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
