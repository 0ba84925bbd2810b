/** Decides which session a run resumes, and the folder that it works in. */
import { safeText } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { SessionStores } from "../../runtime/sessions/session-stores.js";
import type { SessionRecord } from "../../sessions/store.js";
import { WorkspaceError } from "../../tools/files/workspace-error.js";
import { openRoot } from "../../tools/files/workspace-root.js";

export async function sessionToResume(
  flags: ParsedFlags,
  sessions: SessionStores,
  root: string,
): Promise<SessionRecord | undefined> {
  const named = flags.text("resume");
  if (named === undefined && !flags.has("continue")) return undefined;
  if (named !== undefined && flags.has("continue")) throw new UsageError("Use --continue or --resume, not both.");
  const store = await sessions.open();
  if (store === undefined) throw new UsageError("Sessions are not stored (--store none): there is nothing to resume.");
  const { findSession, latestSession } = await import("../../runtime/sessions/find-session.js");
  return named === undefined ? latestSession(store, root) : findSession(store, named);
}

/**
 * A session resumes in its own folder. Files of a project could name any folder as theirs, so Oxbow trusts only the user's own
 * database.
 */
export async function folderOf(
  { cwd }: SessionRecord,
  place: { readonly here: string; readonly sessions: SessionStores; readonly notify: (message: string) => void },
): Promise<string> {
  const { here, sessions, notify } = place;
  if (cwd === here || !(await sessions.isOwn())) return here;
  try {
    const root = await openRoot(cwd);
    if (root !== here) notify(`the session works in ${safeText(root)}. --cwd names another folder.`);
    return root;
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    notify(`the folder of the session, ${safeText(cwd)}, cannot be used. The session works in this folder instead.`);
    return here;
  }
}

export async function findRoot(folder: string): Promise<string> {
  try {
    return await openRoot(folder);
  } catch (error) {
    if (error instanceof WorkspaceError) throw new UsageError(error.message);
    throw error;
  }
}
