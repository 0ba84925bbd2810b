/** `permissions replay`: what today's rules would have decided about a stored session. */
import { safeText } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import { PERMISSIONS_REPLAY } from "../../commands/catalogue/security.js";
import { type Command, type CommandResult, refuse } from "../../commands/command.js";
import type { ToolRegistry } from "../../engine/ports.js";
import { readCall } from "../../engine/read-call.js";
import type { JsonValue } from "../../protocol/json.js";
import { replayDecisions, replayText } from "../../security/permissions/replay-decisions.js";
import type { RunPermissions } from "../parts/permissions.js";
import { findSession } from "../sessions/find-session.js";
import type { SessionStores } from "../sessions/session-stores.js";

export interface ReplayPort {
  readonly sessions: SessionStores;
  readonly permissions: RunPermissions;
  readonly tools: ToolRegistry;
}

export function permissionReplay(port: ReplayPort): Command {
  return {
    ...PERMISSIONS_REPLAY,
    run: async (args) => {
      try {
        return await replay(args.text("SESSION") ?? "", port);
      } catch (error) {
        if (error instanceof UsageError) return refuse(error.message);
        throw error;
      }
    },
  };
}

async function replay(typed: string, { sessions, permissions, tools }: ReplayPort): Promise<CommandResult> {
  const store = await sessions.open();
  if (store === undefined) return refuse("Sessions are not stored here.");
  const { id } = await findSession(store, typed);
  const { engine } = await permissions.parts();
  await permissions.findSandbox();
  const replayed = await replayDecisions(store.events(id), engine.policy, async (tool, input) => {
    const read = readCall(tools, { tool, args: input });
    const definition = tools.find(read.tool);
    return definition && engine.factsOf({ tool: definition, args: read.args });
  });
  return { text: safeText(replayText(replayed)), value: JSON.parse(JSON.stringify(replayed)) as JsonValue };
}
