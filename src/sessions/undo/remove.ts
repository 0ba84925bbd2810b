/** The undo journals that there are, and giving their space back. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isId, type SessionId } from "../../protocol/ids.js";
import { StoreError } from "../store.js";
import { isInUse } from "./journal.js";

/** Removes the journal of a session, if there is one. Refused while one of its tools runs. */
export async function removeUndo(folder: string, session: SessionId): Promise<void> {
  const path = folderOf(folder, session);
  if (isInUse(path)) {
    throw new StoreError("busy", `A tool of ${session} is running. Stop it before you remove its undo data.`);
  }
  await rm(path, { recursive: true, force: true });
}

/** The sessions that have one. */
export async function undoSessions(folder: string): Promise<readonly SessionId[]> {
  const names: readonly string[] = await readdir(folder).catch(() => []);
  return names.filter((name: string): name is SessionId => isId("sess", name)).toSorted();
}

function folderOf(folder: string, session: SessionId): string {
  if (!isId("sess", session)) {
    throw new StoreError("invalid", `${JSON.stringify(session)} is not the id of a session.`);
  }
  return join(folder, session);
}
