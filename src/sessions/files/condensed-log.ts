/** Condensed logs (sessions/condense.ts) in files. */
import type { SessionId } from "../../protocol/ids.js";
import type { CondensedLog } from "../store.js";
import { openReader } from "./open-session.js";
import type { SessionFiles } from "./session-files.js";

export function condensedLog(filesOf: (session: SessionId) => SessionFiles): CondensedLog {
  return {
    end: async (session) => {
      const { writer, condensed } = filesOf(session);
      await writer.idle();
      return condensed.end();
    },
    read: async (session) => {
      const { state, writer, condensed } = filesOf(session);
      await writer.idle();
      const found = await condensed.read(await openReader(state));
      if (found !== undefined) return found;
      const discarded = writer.add(async () => {
        await condensed.discard();
        return "group";
      });
      // A file that cannot be removed now is rejected again the next time.
      await discarded.catch(() => {});
      return [];
    },
    add: async (session, stretch) => {
      const { state, writer, condensed } = filesOf(session);
      await writer.idle();
      await writer.add(async () => {
        await condensed.add(await openReader(state), stretch);
        return "group";
      });
    },
  };
}
