/** All commands of one session: each part registers its own. Loaded with the first command that a client sends. */

import { UsageError } from "../../base/usage-error.js";
import { CLIENT_COMMANDS, HELP, RECORD_NAMESPACE } from "../../commands/catalogue/conversation.js";
import { AUTH_NAMESPACE, AUTH_SET, AUTH_UNLOCK } from "../../commands/catalogue/credentials.js";
import { MODELS_NAMESPACE, OLLAMA_NAMESPACE, ROUTE_NAMESPACE } from "../../commands/catalogue/models.js";
import {
  AUDIT_NAMESPACE,
  PERMISSIONS_NAMESPACE,
  PLAN_NAMESPACE,
  SAFEMODE_NAMESPACE,
} from "../../commands/catalogue/security.js";
import {
  SESSION_COMPACT,
  SESSION_NAMESPACE,
  SESSION_REPLAY,
  SESSION_RESUME,
} from "../../commands/catalogue/sessions.js";
import type { Command, CommandContext, CommandSpec } from "../../commands/command.js";
import { CommandRegistry, helpCommand, runSlash } from "../../commands/registry.js";
import type { CustomRequest } from "../../control/host.js";
import type { Run } from "../../control/run.js";
import type { CommandReply } from "../../protocol/client.js";
import { failure } from "../../protocol/errors.js";
import { isJsonObject } from "../../protocol/json.js";
import { CredentialError } from "../../security/credentials/credential-error.js";
import { StoreError } from "../../sessions/store.js";
import { createHttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { openCredentialFile } from "../credentials/open-file.js";
import { networkOf } from "../network.js";
import type { Place, ProcessParts } from "../open-engine.js";
import type { OpenedRun } from "../open-run.js";
import { benchCommand } from "./bench.js";
import { compactionCommands } from "./compaction.js";
import { effortCommand, modelCommand, shellCommand, statusCommand, switchModel } from "./conversation.js";
import { budgetCommand, costCommand } from "./cost.js";
import { credentialCommands } from "./credentials/commands.js";
import { modelsCommands } from "./models.js";
import { OllamaControl, ollamaCommands, type WithOllama } from "./ollama.js";
import { permissionReplay } from "./permission-replay.js";
import { routeCommands } from "./route.js";
import { storedSessionCommands } from "./sessions/commands.js";

/** Namespaces that the help shows on one line. */
const NAMESPACES = {
  ...SESSION_NAMESPACE,
  ...RECORD_NAMESPACE,
  ...MODELS_NAMESPACE,
  ...AUTH_NAMESPACE,
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
  const { root, loaded, registry: models, routes, variables, sessions, content } = engine;
  const { settings, roots } = loaded;
  const aside: Run["aside"] = (action) => run.aside(action);
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
    benchCommand({ registry: models, clock: nodeClock, aside }),
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
    ...storedSessionCommands({
      ...{ stores: sessions, settings, roots, variables, clock: nodeClock },
      ...{ folder: root, base: root, current: run.session },
    }),
    ...modelsCommands({ registry: models, settings, roots, variables, aside }),
    ...credentialCommands({ variables, openFile: () => openCredentialFile({ variables, warn: () => {} }) }),
    ...ollamaCommands(besideOf(run, engine), (spec) => switchModel(spec, model)),
    shellCommand({ run, refusalOf: (command) => security.refusalOf(command) }),
    ...[...CLIENT_COMMANDS, ...SHELL_COMMANDS].map(elsewhere),
    ...opened.commands,
  );
}

/** Commands that only `oxbow NAME` can run: they are listed, and say so. */
const SHELL_COMMANDS = [AUTH_SET, AUTH_UNLOCK, SESSION_RESUME, SESSION_REPLAY, SESSION_COMPACT];

/** The registry refuses these before they run. */
function elsewhere(spec: CommandSpec): Command {
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
  const written = new WrittenText();
  const context: CommandContext = {
    surface: "slash",
    signal: new AbortController().signal,
    progress: (message) => run.bus.publish("Notice", { level: "progress", message }),
    warn: (message) => run.bus.publish("Notice", { level: "warning", message }),
    write: async (text) => written.add(text),
  };
  try {
    const result = await runSlash(registry, `${verb} ${args}`, { identity, context, busy: run.busy });
    if ("failure" in result) return { ok: false, failure: result.failure };
    const { text, value, exitCode = 0 } = result;
    return {
      ok: true,
      value: { text: written.before(text), value, ...(exitCode !== 0 && { exit_code: exitCode }) },
    };
  } catch (error) {
    const isMeant = [UsageError, StoreError, CredentialError].some((kind) => error instanceof kind);
    if (!isMeant) throw error;
    return { ok: false, failure: failure("InvalidInput", { detail: (error as Error).message }) };
  }
}

/** A client gets an answer in one piece, so a long one is cut. */
const MOST_TEXT = 200_000;

class WrittenText {
  #text = "";
  #isCut = false;

  add(text: string): void {
    this.#isCut ||= this.#text.length + text.length > MOST_TEXT;
    if (!this.#isCut) this.#text += text;
  }

  before(text: string): string {
    const cut = this.#isCut ? "… The rest is left out. 'oxbow session' shows all of it." : "";
    return [this.#text.trimEnd(), cut, text].filter((part) => part !== "").join("\n");
  }
}
