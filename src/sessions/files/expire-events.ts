/** Drops the content of a session's oldest events from its log, its messages and its snapshot. */
import { openReader } from "./open-session.js";
import type { SessionFiles } from "./session-files.js";

export async function expireEvents({ state, writer, messages, snapshot }: SessionFiles, event: number): Promise<void> {
  await writer.add(async (open) => {
    const to = Math.min(event, await open.lastEvent());
    if (to <= (await open.conf()).expired_to) return "group";
    const { reader } = await openReader(state);
    await open.dropLog();
    await snapshot.discard();
    await reader.expire(to);
    await messages.expire(to);
    // Last: after a crash, the steps before it run again.
    await open.changeConf({ expired_to: String(to) });
    return "group";
  });
}
