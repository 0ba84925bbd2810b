/** `oxbow permissions`: the rules, what they would decide, and what they would have decided. */

import { join, resolve } from "node:path";
import { createIdSource } from "../../base/ulid.js";
import type { Variables } from "../../base/variables.js";
import * as specs from "../../commands/catalogue/security.js";
import type { ParsedFlags } from "../../commands/flags.js";
import type { ToolCall } from "../../engine/ports.js";
import { BUILT_IN_TYPES } from "../../extensions/subagents/agent-types.js";
import { agentTools } from "../../extensions/subagents/part.js";
import { permissionReplay } from "../../runtime/commands/permission-replay.js";
import { programsOf } from "../../runtime/commands/sources.js";
import { placeSettings } from "../../runtime/content/place-settings.js";
import { toolsOf } from "../../runtime/part.js";
import { extraRoots } from "../../runtime/parts/extra-folders.js";
import { RunGuard } from "../../runtime/parts/guard.js";
import { RunPermissions } from "../../runtime/parts/permissions.js";
import { RunSandbox } from "../../runtime/parts/sandbox.js";
import { RunSecurity } from "../../runtime/parts/security.js";
import { openToolbox } from "../../runtime/parts/toolbox.js";
import { SessionStores } from "../../runtime/sessions/session-stores.js";
import { workspaceRules } from "../../runtime/settings/workspace-state.js";
import { Audit } from "../../security/audit/part.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import { printMessage } from "../print-message.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "permissions",
  specs: [
    specs.PERMISSIONS_LIST,
    specs.PERMISSIONS_TEST,
    specs.PERMISSIONS_REPLAY,
    specs.PERMISSIONS_SET,
    specs.PERMISSIONS_RESET,
    specs.SAFEMODE_STATUS,
    specs.SAFEMODE_ON,
    specs.SAFEMODE_OFF,
    specs.SAFEMODE_ALLOW,
    specs.SAFEMODE_DENY,
    specs.SAFEMODE_RESET,
  ],
  about: "Shows and changes what may run without asking.",
  more: "Exit codes of 'test': 0 runs without asking, 4 asks, 1 denied.",
  open: async (flags, variables) => {
    const { security, stores: sessions, permissions, tools, close } = await openPlace(flags, variables);
    const replay = permissionReplay({ sessions, permissions, tools });
    return { commands: [...(await security.commands()), replay], close };
  },
};

export const run = shellRunner(shell);

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
  const agents = agentTools(BUILT_IN_TYPES, { delegate: "offered" }).filter(({ name, set }) =>
    choice.offers(name, set),
  );
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
  const security = new RunSecurity({ permissions, sandbox, tools, variables, ruleFiles, audit: new Audit() });
  const judge = (tool: string, input: ToolCall["args"]) => {
    const definition = tools.find(tool);
    return definition && permissions.judge({ call: ids.next("call"), tool, args: input }, definition);
  };
  return {
    root,
    stores,
    tools,
    permissions,
    security,
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
