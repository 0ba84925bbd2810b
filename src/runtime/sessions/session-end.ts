/** Describes how the last run of a session ended. */
import type { SessionEndReason } from "../../protocol/events.js";
import type { SessionRecord, SessionStore } from "../../sessions/store.js";

export interface SessionEnd {
  /** Absent if the run was killed, or is not over. */
  readonly ended?: SessionEndReason;
  /** The log has a turn without an end: it runs, or a kill ended it. */
  readonly unfinished?: true;
}

/** The log says it, unless the record does. */
export async function lastEnd(
  { id, last_event, ended }: Pick<SessionRecord, "id" | "last_event" | "ended">,
  store: Pick<SessionStore, "events" | "last">,
): Promise<SessionEnd> {
  if (ended !== undefined) return { ended };
  if (last_event === 0) return {};
  try {
    for await (const event of store.events(id, { after: last_event - 1, limit: 1 })) {
      if (event.kind === "SessionEnded") return { ended: event.payload.reason };
      if (event.kind === "TurnEnded") return {};
    }
    const [begun = 0, over = 0] = await Promise.all([store.last(id, "TurnStarted"), store.last(id, "TurnEnded")]);
    return begun > over ? { unfinished: true } : {};
  } catch {
    // A damaged session is listed, too.
    return { unfinished: true };
  }
}
