/**
 * The word that delimits what tools bring into a session (feature P12): nobody can guess it who does not have the user's key, and it is
 * the same in every process that goes on with the session. Where nothing is stored, no other process does: any word will do.
 */
import type { SessionId } from "../../protocol/ids.js";
import type { SessionStores } from "./session-stores.js";

export async function sessionMark(session: SessionId, stores?: Pick<SessionStores, "open" | "key">): Promise<string> {
  // Asked for at once: whoever ends the run meanwhile closes it.
  const opening = stores?.open().catch(() => undefined);
  const { createMark } = await import("../../security/untrusted/untrusted.js");
  // A store that cannot be opened ends the turn by itself, and says why.
  const isStored = (await opening) !== undefined;
  const key = isStored ? await stores?.key().catch(() => undefined) : undefined;
  if (key === undefined) return createMark((await import("node:crypto")).randomBytes);
  const { TagMaker } = await import("../../sessions/tag-maker.js");
  const tag = new TagMaker(key).make(`oxbow mark of outside text 1 ${session}`);
  return createMark((bytes) => tag.subarray(0, bytes));
}
