/** The commands about sessions that need their own terminal or run. */

import type { TerminalCommand } from "../../../feature/command.js";
import type { ParsedFlags } from "../../../feature/flags.js";
import { named } from "../../../runtime/commands/sessions/port.js";
import {
  SESSION_COMPACT,
  SESSION_REPLAY,
  SESSION_RERUN,
  SESSION_RESUME,
} from "../../../runtime/commands/sessions/specs.js";
import type { OpenSessions } from "./open-sessions.js";

export function shellSessionCommands(sessions: OpenSessions, flags: ParsedFlags): readonly TerminalCommand[] {
  return [
    {
      ...SESSION_RESUME,
      take: async (args) => {
        const { id } = await named(args.text("ID"), sessions);
        const { resume } = await import("./resume.js");
        return resume(id, { flags, words: args.list("PROMPT"), sessions });
      },
    },
    {
      ...SESSION_RERUN,
      take: async (args) => (await import("./rerun.js")).rerun(args, { flags, sessions }),
    },
    {
      ...SESSION_REPLAY,
      take: async (args) => {
        const record = await named(args.text("ID"), sessions);
        const { replay } = await import("./replay.js");
        return replay(record, sessions);
      },
    },
    {
      ...SESSION_COMPACT,
      take: async (args) => {
        const { id } = await named(args.text("ID"), sessions);
        const { compact } = await import("./compact.js");
        return compact(id, { flags, words: args.text("WORDS") ?? "", sessions });
      },
    },
  ];
}
