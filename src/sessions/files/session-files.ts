/** The state of a store for one session: its writer, its message files and its condensed log. */
import type { Clock } from "../../base/clock.js";
import type { SessionId } from "../../protocol/ids.js";
import { CondensedFile } from "./condensed-file.js";
import { MessageFolder } from "./message-folder.js";
import { newSessionState, openReader, type SessionState } from "./open-session.js";
import type { SessionPaths } from "./session-paths.js";
import { SessionWriter } from "./session-writer.js";

export interface SessionFiles {
  readonly state: SessionState;
  readonly writer: SessionWriter;
  readonly messages: MessageFolder;
  readonly condensed: CondensedFile;
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
  return { state, writer, messages, condensed: new CondensedFile(paths.condensed) };
}
