/** `oxbow engine`: the engine of this home. The first conversation starts it. */
import { ENGINE } from "../../runtime/commands/program.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "engine",
  specs: [ENGINE],
  about: `Runs the engine of this home in the foreground, as the first conversation does in the background. It ends when it has nothing to do
(engine_idle_timeout), and 'oxbow stop' ends it. For a service with ports, tokens and its own flags: 'oxbow serve'.`,
  printsItself: true,
  open: async (_flags, variables) => ({
    commands: [],
    terminalCommands: [{ ...ENGINE, take: async () => (await import("../engine/run-engine.js")).runEngine(variables) }],
  }),
};

export const run = shellRunner(shell);
