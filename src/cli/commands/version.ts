import { VERSION } from "../../base/version.js";
import { VERSION_COMMAND } from "../../runtime/commands/program.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "version",
  specs: [VERSION_COMMAND],
  about: "Prints the version.",
  open: async () => ({
    commands: [{ ...VERSION_COMMAND, run: () => ({ text: `oxbow ${VERSION}`, value: { version: VERSION } }) }],
  }),
};

export const run = shellRunner(shell);
