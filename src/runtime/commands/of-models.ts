/** The commands about models: the current one, the list, and the local Ollama. */
import type { Command } from "../../commands/command.js";
import type { Run } from "../../control/run.js";
import { createHttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { changeModel } from "../models/change-model.js";
import { networkOf } from "../network.js";
import { type Opening, runOf } from "../opening.js";
import { benchCommand } from "./bench.js";
import { effortCommand, type ModelPort, modelCommand, statusCommand, switchModel } from "./conversation.js";
import { modelsCommands } from "./models.js";
import { OllamaControl, ollamaCommands, type WithOllama } from "./ollama.js";
import { routeCommands } from "./route.js";

export function modelPartCommands(opening: Opening): readonly Command[] {
  const run = runOf(opening);
  const { engine, root, built } = opening;
  const { registry, routes, loaded, variables, content } = engine;
  const { effort, permissions, recording, events } = built.all();
  const { settings, roots } = loaded;
  const place = { run, events, newCall: () => engine.ids.next("call") };
  const change: ModelPort["change"] = (model, requested, signal) =>
    changeModel({ model, requested, source: "command" }, { ...place, signal });
  const model = { run, registry, routes, change };
  const aside: Run["aside"] = (action) => run.aside(action);
  return [
    statusCommand({
      ...{ run, effort, root },
      profile: loaded.chosen.name,
      permissionMode: () => (permissions.planning ? "plan" : permissions.mode),
      files: content?.files ?? [],
      recording: () => recording.status(),
      more: async () => {
        const rows = await Promise.all((opening.current.parts ?? []).map((part) => part.statusRows?.() ?? []));
        return rows.flat();
      },
    }),
    modelCommand(model),
    effortCommand(effort),
    ...modelsCommands({ registry, settings, roots, variables, aside }),
    benchCommand({ registry, clock: nodeClock, aside }),
    ...routeCommands(routes),
    ...ollamaCommands(withOllama(run, opening), (spec) => switchModel(spec, model)),
  ];
}

/** Ollama during a conversation: the session's cancel stops it. */
function withOllama(run: Run, { engine: { variables, loaded }, root }: Opening): WithOllama {
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
