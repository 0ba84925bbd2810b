/** All commands of one session: each part registers its own. Loaded with the first command that a client sends. */
import { CLIENT_COMMANDS, HELP, RECORD_NAMESPACE } from "../../commands/catalogue/conversation.js";
import { OLLAMA_NAMESPACE, ROUTE_NAMESPACE } from "../../commands/catalogue/models.js";
import {
  AUDIT_NAMESPACE,
  PERMISSIONS_NAMESPACE,
  PLAN_NAMESPACE,
  SAFEMODE_NAMESPACE,
} from "../../commands/catalogue/security.js";
import type { Command, CommandContext, CommandSpec } from "../../commands/command.js";
import { CommandRegistry, helpCommand, runSlash } from "../../commands/registry.js";
import type { CustomRequest } from "../../control/host.js";
import type { Run } from "../../control/run.js";
import type { CommandReply } from "../../protocol/client.js";
import { isJsonObject } from "../../protocol/json.js";
import { createHttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { networkOf } from "../network.js";
import type { Place, ProcessParts } from "../open-engine.js";
import type { OpenedRun } from "../open-run.js";
import { benchCommand } from "./bench.js";
import { compactionCommands } from "./compaction.js";
import { effortCommand, modelCommand, shellCommand, statusCommand, switchModel } from "./conversation.js";
import { budgetCommand, costCommand } from "./cost.js";
import { OllamaControl, ollamaCommands, type WithOllama } from "./ollama.js";
import { permissionReplay } from "./permission-replay.js";
import { routeCommands } from "./route.js";
import { undoCommand } from "./undo.js";

/** Namespaces that the help shows on one line. */
const NAMESPACES = {
  ...RECORD_NAMESPACE,
  ...ROUTE_NAMESPACE,
  ...OLLAMA_NAMESPACE,
  ...PERMISSIONS_NAMESPACE,
  ...SAFEMODE_NAMESPACE,
  ...PLAN_NAMESPACE,
  ...AUDIT_NAMESPACE,
};

type Engine = Pick<ProcessParts, "variables" | "sessions"> &
  Pick<Place, "loaded" | "root" | "registry" | "routes" | "content">;

export async function sessionCommands(opened: OpenedRun, engine: Engine): Promise<CommandRegistry> {
  const { run, recording, security, costs, compaction, effort, permissions } = opened;
  const { root, registry: models, routes, variables, sessions, content } = engine;
  const model = { run, registry: models, routes };
  const registry = new CommandRegistry().describe(NAMESPACES);
  return registry.register(
    helpCommand(HELP, registry),
    statusCommand({
      ...{ run, effort, root },
      permissionMode: () => (permissions.planning ? "plan" : permissions.mode),
      files: content?.files ?? [],
      recording: () => recording.status(),
    }),
    modelCommand(model),
    effortCommand({ run, effort }),
    benchCommand({ registry: models, clock: nodeClock, aside: (action) => run.aside(action) }),
    costCommand({
      session: () => costs.sessionCosts(),
      spending: async (query) => (await sessions.open())?.spending(query),
      folder: root,
      wall: Date.now,
    }),
    budgetCommand(costs),
    ...compactionCommands({ run, compaction }),
    ...routeCommands(routes),
    ...(await security.commands()),
    permissionReplay({ sessions, permissions, tools: run.tools }),
    ...recording.commands(),
    undoCommand({ sessions, session: run.session, root, variables }),
    ...ollamaCommands(besideOf(run, engine), (spec) => switchModel(spec, model)),
    shellCommand({ run, refusalOf: (command) => security.refusalOf(command) }),
    ...CLIENT_COMMANDS.map(ofClient),
    ...opened.commands,
  );
}

/** The registry refuses these before they run. */
function ofClient(spec: CommandSpec): Command {
  return { ...spec, run: () => ({ text: "", value: null }) };
}

/** Ollama beside the conversation: the session's cancel reaches it. */
function besideOf(run: Run, { variables, loaded, root }: Engine): WithOllama {
  return async (action) => {
    const http = createHttpClient({ clock: nodeClock, network: networkOf(variables) });
    const control = new OllamaControl({ variables, roots: loaded.roots, http, clock: nodeClock, workspace: root });
    try {
      return await run.aside((signal) => action(control, signal));
    } finally {
      http.close();
    }
  };
}

/** Answers the `slash` commands of clients. */
export async function answerSlash(registry: CommandRegistry, request: CustomRequest): Promise<CommandReply> {
  const { verb, payload, run, identity } = request;
  const args = isJsonObject(payload) && typeof payload.args === "string" ? payload.args : "";
  const context: CommandContext = {
    surface: "slash",
    signal: new AbortController().signal,
    progress: (message) => run.bus.publish("Notice", { level: "progress", message }),
  };
  const result = await runSlash(registry, `${verb} ${args}`, { identity, context, busy: run.busy });
  if ("failure" in result) return { ok: false, failure: result.failure };
  return { ok: true, value: { text: result.text, value: result.value } };
}
