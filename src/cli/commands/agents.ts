/** `oxbow agents`. */

import { resolve } from "node:path";
import { AGENTS } from "../../commands/catalogue/agents.js";
import { listCommand } from "../../runtime/commands/agents.js";
import { ProjectContent } from "../../runtime/content/project-content.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import { printMessage } from "../print-message.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "agents",
  specs: [AGENTS],
  about: "Lists the types of subagents that a session in this folder has, where they are and what they shadow.",
  more: "A type is a Markdown file in agents/ of your configuration folder, .oxbow/ or .claude/: docs/subagents.md",
  open: async (flags, variables) => {
    const loaded = await loadSettings(flags, variables);
    const root = await openRoot(resolve(flags.text("cwd") ?? process.cwd()));
    const notify = (message: string) => printMessage(message);
    const unattended = { color: false, width: 80, skipUnapproved: true, allowProjectHooks: false };
    const content = await ProjectContent.enter({ root, loaded, variables, notify, ...unattended });
    if ("failure" in content) throw new Error(content.failure.message);
    return { commands: [listCommand({ extensions: content.extensions, roots: loaded.roots })] };
  },
};

export const run = shellRunner(shell);
