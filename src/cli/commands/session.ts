/** `oxbow session`. */
import * as specs from "../../runtime/commands/sessions/specs.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { RUN_FLAGS } from "./run-flags.js";

/** The flags of a run that `oxbow session resume` and `oxbow session compact` take. */
const RESUME_FLAGS = RUN_FLAGS.filter(({ name }) => name !== "resume" && name !== "continue");
/** The session says where and what it runs again. */
const OF_SESSION = ["cwd", "audio", "image", "run", "keep-going", "attach", "no-attach", "listen", "no-listen"];
const RERUN_FLAGS = RESUME_FLAGS.filter(({ name }) => !OF_SESSION.includes(name));
const FOR_COMPACT = ["model", "provider", "wait", "orphan", "orphan-note", "budget", "retry-wait", "timeout"];
const COMPACT_FLAGS = RUN_FLAGS.filter(({ name }) => FOR_COMPACT.includes(name));

export const shell: ShellCommand = {
  name: "session",
  specs: [
    specs.SESSION_LIST,
    specs.SESSION_SHOW,
    { ...specs.SESSION_RESUME, shellFlags: [...RESUME_FLAGS, ...specs.SESSION_SHELL_FLAGS] },
    specs.SESSION_SEARCH,
    specs.SESSION_REPLAY,
    specs.SESSION_BRANCH,
    { ...specs.SESSION_RERUN, shellFlags: [...RERUN_FLAGS, ...specs.SESSION_SHELL_FLAGS] },
    { ...specs.SESSION_COMPACT, shellFlags: [...specs.SESSION_SHELL_FLAGS, ...COMPACT_FLAGS] },
    specs.UNDO,
    specs.SESSION_DIFF,
    specs.SESSION_COMPARE,
    specs.SESSION_EXPORT,
    specs.SESSION_IMPORT,
    specs.SESSION_PIN,
    specs.SESSION_UNPIN,
    specs.SESSION_RENAME,
    specs.SESSION_VERIFY,
    specs.SESSION_GC,
    specs.SESSION_DISMISS,
    specs.SESSION_DELETE,
  ],
  about: "Lists, searches, shows and changes stored sessions.",
  more: "Any part of an ID works if only one session has it.",
  open: async (flags, variables) => {
    const [{ openSessions }, { storedSessionCommands }, { shellSessionCommands }] = await Promise.all([
      import("./session/open-sessions.js"),
      import("../../runtime/commands/sessions/commands.js"),
      import("./session/shell-commands.js"),
    ]);
    const sessions = await openSessions(flags, variables);
    return {
      commands: storedSessionCommands(sessions),
      terminalCommands: shellSessionCommands(sessions, flags),
      close: sessions.close,
    };
  },
};

export const run = shellRunner(shell);
