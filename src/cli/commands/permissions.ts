/** `oxbow permissions`: the rules, what they would decide, and what they would have decided. */

import { join, resolve } from "node:path";
import { createIdSource } from "../../base/ulid.js";
import type { Variables } from "../../base/variables.js";
import type { ToolCall } from "../../engine/ports.js";
import { BUILT_IN_TYPES } from "../../extensions/subagents/agent-types.js";
import { describedAgent } from "../../extensions/subagents/part.js";
import type { OpenShell } from "../../feature/command.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { securityCommands } from "../../runtime/commands/security.js";
import { programsOf } from "../../runtime/commands/sources.js";
import { placeSettings } from "../../runtime/content/place-settings.js";
import { toolsOf } from "../../runtime/part.js";
import { RunGuard } from "../../runtime/parts/guard.js";
import { RunPermissions } from "../../runtime/parts/permissions.js";
import { RunSandbox } from "../../runtime/parts/sandbox.js";
import { openToolbox } from "../../runtime/parts/toolbox.js";
import { SessionStores } from "../../runtime/sessions/session-stores.js";
import { Audit } from "../../security/audit/part.js";
import { workspaceRules } from "../../security/permissions/workspace-state.js";
import { extraRoots } from "../../security/sandbox/extra-folders.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import { printMessage } from "../print-message.js";

export const openShell: OpenShell = async ({ flags, variables }) => {
  const { commands, close } = await openPlace(flags, variables);
  return { commands, close };
};

export async function openPlace(flags: ParsedFlags, variables: Variables) {
  const loaded = await placeSettings(flags, variables, { unapproved: "refuse" });
  const { settings, roots } = loaded;
  const root = await openRoot(resolve(flags.text("cwd") ?? process.cwd()));
  const notify = (message: string) => printMessage(message);
  const stores = new SessionStores({ settings, roots, variables, root, notify, hint: () => {} });
  const ids = createIdSource({ wall: Date.now, random: (bytes) => crypto.getRandomValues(bytes) });
  const session = ids.next("sess");
  const outputDirectory = join(roots.state, "output");
  const hidden = stores.ownFolders;
  const extra = extraRoots(loaded, variables);
  const guard = new RunGuard({ root, extraRoots: extra, variables, ownFolders: hidden });
  const choice = settings.tool_sets.value;
  const environmentPolicy = settings.environment.value;
  const toolbox = openToolbox({
    ...{ root, extraRoots: extra, variables, environmentPolicy, outputDirectory, guard },
    offers: (tool, set) => choice.offers(tool, set),
  });
  const agent = describedAgent(BUILT_IN_TYPES, { cheap: true });
  const agents = choice.offers(agent.name, agent.set) ? [agent] : [];
  const tools = toolsOf(toolbox, [{ name: "subagents", tools: agents }]);
  const isRecorded = async () => (await stores.choice()).kind !== "none";
  const place = { loaded, variables, root, session, outputDirectory, hidden };
  const sandbox = new RunSandbox({ ...place, notify: () => {}, isRecorded });
  const isSandboxed = async () => (await sandbox.find()).kind !== "none";
  const permissions = new RunPermissions({
    loaded,
    variables,
    root,
    ownFolders: hidden,
    guard,
    workspace: toolbox.workspace,
    isSandboxed,
    whyNotContained: () => sandbox.whyNotContained(),
    originator: () => "human",
  });
  const ruleFiles = { user: loaded.profilePath, project: workspaceRules(loaded.roots.config, root) };
  const port = {
    permissions,
    sandbox,
    tools,
    toolbox: tools,
    variables,
    ruleFiles,
    sessions: stores,
    audit: new Audit(),
  };
  const judge = (tool: string, input: ToolCall["args"]) => {
    const definition = tools.find(tool);
    return definition && permissions.judge({ call: ids.next("call"), tool, args: input }, definition);
  };
  return {
    root,
    tools,
    commands: securityCommands(port),
    judge,
    choice,
    programs: () => programsOf("tool", { loaded, variables, root }),
    close: async () => {
      await toolbox.close();
      await sandbox.close();
      await stores.close();
    },
  };
}
