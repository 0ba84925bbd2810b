/** The models that a run can use: built-in providers, those of the project and of plugins, or the answers of a cassette. */
import type { Variables } from "../../base/variables.js";
import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";
import type { ProjectContent } from "../../runtime/content/project-content.js";
import { createModelRegistry, type ModelRegistry } from "../../runtime/models/model-registry.js";
import { lateContainment, providersOfProject } from "../../runtime/models/project-providers.js";
import type { RunCassette } from "../../runtime/parts/cassette.js";
import { localOptions } from "../../runtime/settings/model-settings.js";
import type { LoadedSettings } from "../../runtime/settings/settings.js";
import type { RawTrace } from "../raw-trace.js";

export interface RunPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
  readonly content: ProjectContent;
  readonly notify: (message: string) => void;
}

export async function modelsOfRun(
  { loaded, variables, root, content, notify }: RunPlace,
  from: {
    readonly plugins: readonly LoadedPlugin[] | undefined;
    readonly cassette: RunCassette | undefined;
    readonly offlineLineMs: number | undefined;
    readonly trace: RawTrace["write"] | undefined;
  },
): Promise<ModelRegistry> {
  const { plugins, cassette, offlineLineMs, trace } = from;
  const { settings, roots, profilePath } = loaded;
  const builtIn = createModelRegistry({
    variables,
    roots,
    tables: { value: settings.providers.value, file: profilePath },
    local: localOptions(settings),
    ofProject: () => providersOfProject(content.extensions),
    contain: lateContainment({ loaded, variables, root, notify }),
    offlineLineMs,
    ...cassette?.registry,
    ...(trace && { trace }),
  });
  if (plugins === undefined) return builtIn;
  return (await import("../../runtime/plugins/plugin-providers.js")).withPluginProviders(builtIn, plugins);
}
