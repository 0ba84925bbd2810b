/** How the last run of a session ended. */
import type { SessionEndReason } from "../../protocol/events.js";
import type { SessionRecord, SessionStore } from "../../sessions/store.js";

/** The log says it, unless the record does. Undefined if the run was killed, or is not over. */
export async function lastEnd(
  { id, last_event, ended }: Pick<SessionRecord, "id" | "last_event" | "ended">,
  store: Pick<SessionStore, "events">,
): Promise<SessionEndReason | undefined> {
  if (ended !== undefined || last_event === 0) return ended;
  try {
    for await (const event of store.events(id, { after: last_event - 1, limit: 1 })) {
      return event.kind === "SessionEnded" ? event.payload.reason : undefined;
    }
  } catch {
    // A damaged session is listed, too.
  }
  return undefined;
}
