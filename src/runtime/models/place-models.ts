/** The models that a place can use: built-in providers, those of the project and of plugins, or the answers of a cassette. */
import type { Variables } from "../../base/variables.js";
import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";
import type { SessionKey } from "../../protocol/commands.js";
import type { ContainProvider } from "../../providers/executable/containment.js";
import { localOptions } from "../../providers/settings.js";
import type { ProjectContent } from "../content/project-content.js";
import type { RunCassette } from "../parts/cassette.js";
import type { LoadedSettings } from "../settings/settings.js";
import { createModelRegistry, type ModelChoice, type ModelRegistry } from "./model-registry.js";
import type { ProviderPlace } from "./provider-sandbox.js";

export interface ModelPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
  readonly content: ProjectContent;
  readonly notify: (message: string) => void;
}

export interface ModelSources {
  readonly plugins?: readonly LoadedPlugin[] | undefined;
  readonly cassette?: RunCassette | undefined;
  readonly offlineLineMs?: number | undefined;
  readonly keys?: readonly SessionKey[];
}

export async function modelsOf(
  { loaded, variables, root, content, notify }: ModelPlace,
  { plugins = [], cassette, offlineLineMs, keys = [] }: ModelSources,
): Promise<ModelRegistry> {
  const { settings, roots, profilePath } = loaded;
  const builtIn = createModelRegistry({
    variables,
    roots,
    keys,
    tables: { value: settings.providers.value, file: profilePath },
    local: localOptions(settings),
    // Private copies of the approved files.
    ofProject: () => Promise.all(content.extensions.of("provider").map((file) => file.program())),
    contain: lateContainment({ loaded, variables, root, notify }),
    offlineLineMs,
    hears: async (model) => {
      const { openCatalogue } = await import("../../providers/catalogue/open-catalogue.js");
      return (await openCatalogue(loaded).facts(model)).abilities.audio;
    },
    standIns: settings.copilot_fallback.value === "openrouter",
    ...cassette?.registry,
  });
  if (plugins.length === 0) return builtIn;
  return (await import("../plugins/plugin-providers.js")).withPluginProviders(builtIn, plugins);
}

/** Loads the sandbox for the first provider of a project. */
function lateContainment(place: ProviderPlace): ContainProvider {
  let contain: Promise<ContainProvider> | undefined;
  return async (command, hosts) => {
    contain ??= import("./provider-sandbox.js").then(({ containProviders }) => containProviders(place));
    return (await contain)(command, hosts);
  };
}

/** Finds the model of the settings. Hooks of the stage `resolve` may choose another one. */
export async function settingsChoice({ content, ...place }: ModelPlace): Promise<ModelChoice> {
  const { provider, model } = place.loaded.settings;
  const choice = { provider: provider.value, model: model.value };
  const files = content.extensions.of("hook");
  if (!files.some(({ name }) => name.startsWith("resolve/"))) return choice;
  const { runEarlyHooks } = await import("../parts/containment.js");
  const input = { provider: choice.provider ?? null, model: choice.model ?? null };
  const chosen = await runEarlyHooks("resolve", input, { ...place, files });
  return {
    ...(typeof chosen.provider === "string" && chosen.provider !== "" && { provider: chosen.provider }),
    ...(typeof chosen.model === "string" && chosen.model !== "" && { model: chosen.model }),
  };
}
