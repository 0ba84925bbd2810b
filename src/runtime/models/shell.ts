/** Opens what `oxbow models`, `bench`, `route` and `ollama` work on: a registry joins providers, keys and settings. */
import { type OpenShell, withPort } from "../../feature/command.js";
import { benchCommands } from "../../providers/bench/commands.js";
import { COMMANDS } from "../../providers/ollama/commands.js";
import { OllamaControl } from "../../providers/ollama/control.js";
import { routeCommands } from "../../providers/routing/commands.js";
import { modelCommands } from "../../providers/selection/commands.js";
import { localOptions } from "../../providers/settings.js";
import { createHttpClient } from "../../system/http-client.js";
import { networkOf } from "../network.js";
import { makeHome } from "../settings/home-folder.js";
import { loadSettings } from "../settings/settings.js";
import { modelsPort } from "./commands.js";
import { createModelRegistry } from "./model-registry.js";
import { ModelRoutes } from "./model-routes.js";

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
  return { commands: withPort(COMMANDS, () => control), close: () => http.close() };
};
