/** `oxbow kb`. */

import { resolve } from "node:path";
import * as specs from "../../commands/catalogue/knowledge-base.js";
import { type CommandSpec, worksOn } from "../../commands/command.js";
import { nodeClock } from "../../system/node-clock.js";
import { printMessage } from "../print-message.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "kb",
  specs: Object.values(specs).filter(
    (spec) => "places" in spec && worksOn(spec, { surface: "shell" }),
  ) as CommandSpec[],
  about: "Keeps what you found and decided, by project, in an encrypted database on this machine.",
  more: "In a session: /kb inject gives the model observations, and Oxbow offers what an answer states (/kb accept).",
  open: async (flags, variables) => {
    const [{ loadSettings }, { SessionStores }, { openKnowledgeBase }, { knowledgeCommands }, { openRoot }] =
      await Promise.all([
        import("../../runtime/settings/settings.js"),
        import("../../runtime/sessions/session-stores.js"),
        import("../../runtime/knowledge-base/open-knowledge-base.js"),
        import("../../runtime/commands/knowledge-base.js"),
        import("../../tools/files/workspace-root.js"),
      ]);
    const { settings, roots, warnings } = await loadSettings(flags, variables);
    const notify = (message: string) => printMessage(message);
    for (const warning of warnings) notify(warning);
    const root = await openRoot(resolve(flags.text("cwd") ?? process.cwd()));
    const keys = new SessionStores({ settings, roots, variables, root, notify, hint: notify });
    const base = await openKnowledgeBase({ roots, keys, clock: nodeClock, isForReading: true });
    return { commands: knowledgeCommands(async () => ({ base, root })), close: () => base.close() };
  },
};

export const run = shellRunner(shell);
