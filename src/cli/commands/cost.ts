/** `oxbow cost`: its commands, with the stored sessions. */
import { costCommands } from "../../costs/commands.js";
import type { OpenShell } from "../../feature/command.js";
import { openSessions } from "./session/open-sessions.js";

export const openShell: OpenShell = async ({ flags, variables }) => {
  const { store, folder, roots, close } = await openSessions(flags, variables);
  return { commands: costCommands({ store: async () => store, folder, roots, wall: Date.now }), close };
};
