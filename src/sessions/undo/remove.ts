/** The space that undo journals take, and giving it back. */
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isId, type SessionId } from "../../protocol/ids.js";
import { StoreError } from "../store.js";
import { isLocked } from "./journal-lock.js";

/** Removes the journal of a session, if there is one. Refused while one of its tools runs. */
export async function removeUndo(folder: string, session: SessionId): Promise<void> {
  const path = folderOf(folder, session);
  if (isLocked(path)) {
    throw new StoreError(
      "busy",
      `A tool of ${session} is running. Stop it, and then remove what it can be undone with.`,
    );
  }
  await rm(path, { recursive: true, force: true });
}

/** Bytes on the disk; 0 when there is no journal. */
export async function undoSize(folder: string, session: SessionId): Promise<number> {
  const path = folderOf(folder, session);
  const names = await readdir(path).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      lstat(join(path, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
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
