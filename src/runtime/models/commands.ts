/** The commands about models: the current one, the list, and the local Ollama. */

import { rm } from "node:fs/promises";
import type { Variables } from "../../base/variables.js";
import type { Run } from "../../control/run.js";
import { type Command, type CommandResult, type OpenShell, withPort } from "../../feature/command.js";
import { benchCommands } from "../../providers/bench/commands.js";
import { fetchedCatalogue } from "../../providers/catalogue/newest.js";
import { CATALOGUE_URL, refreshCatalogue } from "../../providers/catalogue/refresh.js";
import { keptLists } from "../../providers/kept-list.js";
import { COMMANDS as OLLAMA } from "../../providers/ollama/commands.js";
import { OllamaControl } from "../../providers/ollama/control.js";
import { routeCommands } from "../../providers/routing/commands.js";
import { type ModelsPort, modelCommands } from "../../providers/selection/commands.js";
import { localOptions } from "../../providers/settings.js";
import { makeHome } from "../../system/home-folder.js";
import { createHttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { effortCommand, type ModelPort, modelCommand, statusCommand, switchModel } from "../commands/conversation.js";
import { networkOf } from "../network.js";
import { type Opening, runOf } from "../opening.js";
import { type LoadedSettings, loadSettings } from "../settings/settings.js";
import { changeModel } from "./change-model.js";
import { createModelRegistry, type ModelRegistry } from "./model-registry.js";
import { ModelRoutes } from "./model-routes.js";

export function modelPartCommands(opening: Opening): readonly Command[] {
  const run = runOf(opening);
  const { engine, root, built } = opening;
  const { registry, routes, loaded, variables, content } = engine;
  const { effort, permissions, recording, events } = built.all();
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
    ...modelCommands(modelsPort({ registry, loaded, variables, aside })),
    ...benchCommands({ registry, clock: nodeClock, aside }),
    ...routeCommands(routes),
    ...ollamaCommands(opening, (spec) => switchModel(spec, model)),
  ];
}

/** During a conversation, the session's cancel stops a command of Ollama. */
function ollamaCommands(opening: Opening, use: (spec: string) => Promise<CommandResult>): readonly Command[] {
  const { engine, root: workspace } = opening;
  const { roots } = engine.loaded;
  return OLLAMA.map((command) => ({
    ...command,
    run: async (args, context) => {
      const http = createHttpClient({ clock: nodeClock, network: networkOf(engine.variables) });
      const place = { variables: engine.variables, roots, http, clock: nodeClock, workspace, use };
      try {
        const control = new OllamaControl(place);
        return await runOf(opening).aside(async (signal) => command.run(args, control, { ...context, signal }));
      } finally {
        http.close();
      }
    },
  }));
}

interface ModelsPlace {
  readonly registry: ModelRegistry;
  readonly loaded: Pick<LoadedSettings, "settings" | "roots">;
  readonly variables: Variables;
  /** Runs it during a conversation, so that the same cancel stops it. */
  readonly aside?: <T>(action: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}

export function modelsPort({ registry, loaded, variables, aside }: ModelsPlace): ModelsPort {
  return {
    registry,
    catalogue: async () => (await import("../../providers/catalogue/open-catalogue.js")).openCatalogue(loaded),
    refresh: () => refresh(loaded, variables),
    test: async (args, context) => {
      const { testModel } = await import("./test-model.js");
      const run = aside ?? ((action) => action(context.signal));
      return run((signal) => testModel(args, { registry, roots: loaded.roots, variables }, { ...context, signal }));
    },
  };
}

/** Throws if it could not be fetched; the old catalogue stays. */
async function refresh(
  { settings, roots }: Pick<LoadedSettings, "settings" | "roots">,
  variables: Variables,
): Promise<void> {
  const url = settings.catalogue_url.value ?? CATALOGUE_URL;
  const today = new Date(nodeClock.wall()).toISOString().slice(0, 10);
  const file = fetchedCatalogue(roots.cache);
  if (process.stderr.isTTY) process.stderr.write(`oxbow: fetching ${url} …\n`);
  const http = createHttpClient({ clock: nodeClock, network: networkOf(variables) });
  await rm(keptLists(roots.state), { recursive: true, force: true });
  const table = await refreshCatalogue({ url, file, http, today });
  const models = [...table.providers.values()].reduce((sum, each) => sum + each.size, 0);
  process.stderr.write(`oxbow: ${models} models of ${table.providers.size} providers are known now, as of ${today}.\n`);
}

export const openShell: OpenShell = async (place) => {
  const { variables, clock } = place;
  const loaded = await loadSettings(place.flags, variables);
  const { settings, roots, profilePath } = loaded;
  const tables = { value: settings.providers.value, file: profilePath };
  const registry = createModelRegistry({ variables, roots, tables, local: localOptions(settings) });
  return {
    commands: [
      ...modelCommands(modelsPort({ registry, loaded, variables })),
      ...benchCommands({ registry, clock }),
      ...routeCommands(new ModelRoutes({ loaded, registry, clock })),
    ],
  };
};

export const openOllama: OpenShell = async ({ variables, roots, clock }) => {
  makeHome(variables);
  const http = createHttpClient({ clock, network: networkOf(variables) });
  const control = new OllamaControl({ variables, roots, http, clock, workspace: process.cwd() });
  return { commands: withPort(OLLAMA, () => control), close: () => http.close() };
};
