/** `oxbow hooks`. */
import { HOOKS } from "../../runtime/commands/sources.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { openSources } from "./open-sources.js";

export const shell: ShellCommand = {
  name: "hooks",
  specs: [HOOKS],
  about:
    "Lists the hooks of each stage, built in and from folders, in the order they run, and the event hooks of settings.",
  open: openSources,
};

export const run = shellRunner(shell);
