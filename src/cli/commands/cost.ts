/** `oxbow cost`. */
import { COST } from "../../commands/catalogue/cost.js";
import type { SessionId } from "../../protocol/ids.js";
import { costCommand, variantIn } from "../../runtime/commands/cost.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { openSessions } from "./session/open-sessions.js";

export const shell: ShellCommand = {
  name: "cost",
  specs: [COST],
  about: "Shows the spending of all sessions, as far as prices are known.",
  open: async (flags, variables) => {
    const { store, folder, roots, close } = await openSessions(flags, variables);
    const spending = (query: Parameters<typeof store.spending>[0]) => store.spending(query);
    const variantOf = (session: SessionId) => variantIn(store, session);
    return { commands: [costCommand({ spending, variantOf, folder, roots, wall: Date.now })], close };
  },
};

export const run = shellRunner(shell);
