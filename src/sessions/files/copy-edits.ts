/** A branch starts with the messages as people edited them in the session that it copies. */
import type { CopyEditsOptions } from "../store.js";
import { withCalls } from "./message-file.js";
import type { SessionFiles } from "./session-files.js";

export async function copyEditedMessages(
  source: SessionFiles,
  copy: SessionFiles,
  { upTo, callOf }: CopyEditsOptions,
): Promise<void> {
  await Promise.all([source.writer.idle(), copy.writer.idle()]);
  const edited = await source.messages.editedUpTo(upTo);
  if (edited === undefined) return;
  const files = edited.files.map((file) => ({ ...file, entry: withCalls(file.entry, callOf) }));
  await copy.messages.takeOver({ ...edited, files });
}
