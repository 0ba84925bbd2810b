/** `oxbow sources`. */
import { SOURCES, SOURCES_ALLOW, SOURCES_REVOKE } from "../../runtime/commands/sources.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { openSources } from "./open-sources.js";

export const shell: ShellCommand = {
  name: "sources",
  specs: [SOURCES, SOURCES_ALLOW, SOURCES_REVOKE],
  about:
    "Lists the folders that hold tools, hooks, commands, skills and other extensions, what is in them, what hides what, and what waits for your approval.",
  open: openSources,
};

export const run = shellRunner(shell);
