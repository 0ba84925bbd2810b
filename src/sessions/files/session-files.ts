/** The state of a store for one session: its writer, its message files and its snapshot. */
import type { Clock } from "../../base/clock.js";
import type { SessionId } from "../../protocol/ids.js";
import { StoreError } from "../store.js";
import { MessageFolder } from "./message-folder.js";
import { newSessionState, openReader, type SessionState } from "./open-session.js";
import type { SessionPaths } from "./session-paths.js";
import { SessionWriter } from "./session-writer.js";
import { SnapshotFile } from "./snapshot-file.js";

export interface SessionFiles {
  readonly state: SessionState;
  readonly writer: SessionWriter;
  readonly messages: MessageFolder;
  readonly snapshot: SnapshotFile;
}

export interface SessionFilesOptions {
  readonly key: Uint8Array | undefined;
  readonly clock: Clock;
}

export function openSessionFiles(
  session: SessionId,
  paths: SessionPaths,
  { key, clock }: SessionFilesOptions,
): SessionFiles {
  const state = newSessionState(session, paths, key);
  const messages = new MessageFolder({
    folder: paths.messages,
    index: paths.index,
    lock: paths.messagesLock,
    clock,
    openLog: () => openReader(state),
  });
  const writer = new SessionWriter(state, { lock: paths.lock, clock });
  return { state, writer, messages, snapshot: new SnapshotFile(paths.snapshot) };
}

export async function closeSessionFiles(all: readonly SessionFiles[]): Promise<void> {
  await Promise.all(all.map(({ messages }) => messages.idle()));
  for (const { writer, messages } of all) {
    await writer.flush().catch((error: unknown) => {
      // Another process removed the session, so nothing waits to be written.
      if (!(error instanceof StoreError) || error.code !== "not-found") throw error;
    });
    await messages.close();
  }
}
