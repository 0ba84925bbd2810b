/** `oxbow serve`: the engine as a service. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { SERVE } from "../../runtime/commands/program.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { RUN_FLAGS } from "./run-flags.js";

/** Flags of a run that hold for every session of the service. */
const OF_SESSIONS = [
  ...["model", "provider", "profile", "effort", "max-iterations", "tool-set", "permission-mode", "strict-permissions"],
  ...[
    "sandbox",
    "system-prompt",
    "skip-unapproved",
    "allow-project-hooks",
    "no-project-hooks",
    "store",
    "cwd",
    "timeout",
    "run-timeout",
  ],
  ...["ollama-timeout", "budget", "retry-wait", "log-level", "log-to-stderr", "verbose"],
];
const SESSION_FLAGS = RUN_FLAGS.filter(({ name }) => OF_SESSIONS.includes(name));

export const shell: ShellCommand = {
  name: "serve",
  specs: [{ ...SERVE, shellFlags: [...(SERVE.shellFlags ?? []), ...SESSION_FLAGS] }],
  about: `Runs the engine without a client. Other programs create sessions, send input and follow events: over a Unix socket that only
you can use, over a port, or over standard input and output. It prints where it listens. Ctrl-C ends it; sessions can be resumed.
Every client needs a token: yours is in the state folder (control.token), 'oxbow token' makes others. docs/service.md explains it.`,
  more: "Exit codes: 0 ended · 1 it cannot listen · 2 wrong usage · 5 unapproved content · 6 no model.",
  printsItself: true,
  open: async (flags, variables) => ({
    commands: [],
    terminalCommands: [{ ...SERVE, take: () => serve(flags, variables) }],
  }),
};

export const run = shellRunner(shell);

async function serve(flags: ParsedFlags, variables: Variables): Promise<number> {
  if (flags.words.length > 0) throw new UsageError("'oxbow serve' takes no prompt. See 'oxbow serve --help'.");
  const { runService } = await import("../serve/run-service.js");
  return runService(flags, variables);
}
