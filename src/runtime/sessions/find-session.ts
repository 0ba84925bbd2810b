/** Finds sessions by the whole id, a unique part of it, or the latest one in a folder. */

import { UsageError } from "../../base/usage-error.js";
import type { SessionId } from "../../protocol/ids.js";
import { isId } from "../../protocol/ids.js";
import type { SessionRecord, SessionStore } from "../../sessions/store.js";

const SHORTEST_PIECE = 4;

export async function findSession(store: SessionStore, typed: string): Promise<SessionRecord> {
  if (isId("sess", typed)) {
    const record = await store.get(typed as SessionId);
    if (record !== undefined) return record;
    throw new UsageError(`There is no session ${typed}. 'oxbow session list --all' lists all sessions.`);
  }
  const piece = typed.replace(/^sess_/, "").toUpperCase();
  if (piece.length < SHORTEST_PIECE) {
    throw new UsageError(
      `'${typed}' is too short for a session: give its id, or at least ${SHORTEST_PIECE} characters of it.`,
    );
  }
  const found = (await store.list()).filter(({ id }) => id.includes(piece, "sess_".length));
  const [only] = found;
  if (only === undefined)
    throw new UsageError(`No session id contains '${typed}'. 'oxbow session list --all' lists all sessions.`);
  if (found.length > 1) {
    const shown = found.slice(0, 5).map(({ id, title }) => `\n  ${id}  ${title ?? ""}`);
    throw new UsageError(`${found.length} session ids contain '${typed}'; give more of the id:${shown.join("")}`);
  }
  return only;
}

/** The normal difference between clocks. */
const AHEAD_MS = 60_000;

/**
 * A session with a future time was last used while the clock was wrong. Any other session comes before it; otherwise it would be the
 * latest until that time.
 */
export async function latestSession(
  store: SessionStore,
  cwd: string,
  { now = Date.now() }: { readonly now?: number } = {},
): Promise<SessionRecord> {
  // The user does not resume a subagent's session.
  const own = { cwd, parent: "none" } as const;
  let [latest] = await store.list({ ...own, limit: 1 });
  if (latest !== undefined && Date.parse(latest.active_at) > now + AHEAD_MS) {
    latest = (await store.list(own)).find(({ active_at }) => Date.parse(active_at) <= now + AHEAD_MS) ?? latest;
  }
  if (latest === undefined) {
    throw new UsageError(
      `There is no session to continue in ${cwd}. 'oxbow session list --all' lists those of other folders.`,
    );
  }
  return latest;
}
