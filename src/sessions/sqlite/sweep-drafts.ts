/** Removes abandoned drafts. They are invisible; what cannot be removed now is removed the next time. */
import type { SessionId } from "../../protocol/ids.js";
import type { SessionLeases } from "../lease.js";
import { StoreError } from "../store.js";
import type { SessionTable } from "./session-table.js";

export async function sweepDrafts(
  sessions: SessionTable,
  leases: SessionLeases,
  remove: (session: SessionId) => Promise<void>,
): Promise<void> {
  for (const session of sessions.drafts()) {
    if (sessions.builds(session)) continue;
    try {
      // The builder of a session has its lease, so an existing draft with this id is stale.
      const lease = leases.has(session) ? undefined : await leases.take(session);
      await remove(session).finally(() => lease?.release());
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }
}
