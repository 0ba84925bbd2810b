import { UsageError } from "../../base/usage-error.js";
import { DEBUG } from "../../commands/catalogue/program.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { RUN_FLAGS } from "./run-flags.js";

export const shell: ShellCommand = {
  name: "debug",
  specs: [{ ...DEBUG, shellFlags: [...(DEBUG.shellFlags ?? []), ...RUN_FLAGS] }],
  about: "Runs a prompt and writes the raw model traffic to a private file.",
  printsItself: true,
  open: async (flags, variables) => ({
    commands: [],
    terminalCommands: [
      {
        ...DEBUG,
        take: async () => {
          if (!flags.has("raw")) throw new UsageError("Give a prompt: oxbow debug --raw PROMPT");
          const { runPrompt } = await import("./run.js");
          return runPrompt(flags, { variables, rawTrace: true });
        },
      },
    ],
  }),
};

export const run = shellRunner(shell);
