/**
 * The word in the marks of a session: it cannot be guessed without the user's key, and it is
 * the same in every process that resumes the session. If nothing is stored, any word works.
 */
import type { SessionId } from "../../protocol/ids.js";
import type { SessionStores } from "./session-stores.js";

export async function sessionMark(session: SessionId, stores?: Pick<SessionStores, "open" | "key">): Promise<string> {
  // Opened at once, so that the end of the run can close it.
  const opening = stores?.open().catch(() => undefined);
  const { createMark } = await import("../../security/untrusted/untrusted.js");
  // If the store cannot be opened, the turn ends with the reason.
  const isStored = (await opening) !== undefined;
  const key = isStored ? await stores?.key().catch(() => undefined) : undefined;
  if (key === undefined) return createMark((await import("node:crypto")).randomBytes);
  const { TagMaker } = await import("../../sessions/tag-maker.js");
  const tag = new TagMaker(key).make(`oxbow mark of outside text 1 ${session}`);
  return createMark((bytes) => tag.subarray(0, bytes));
}
