/** `oxbow route`. */
import * as specs from "../../commands/catalogue/models.js";
import { routeCommands } from "../../runtime/commands/route.js";
import { createModelRegistry } from "../../runtime/models/model-registry.js";
import { ModelRoutes } from "../../runtime/models/model-routes.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { nodeClock } from "../../system/node-clock.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "route",
  specs: [specs.ROUTE_LIST, specs.ROUTE_ADD, specs.ROUTE_REMOVE, specs.ROUTE_ENABLE, specs.ROUTE_DISABLE],
  about: "A route is a name for a model, or for several models that Oxbow tries in order.",
  more: `Use one for a single turn:  oxbow run "@fast summarise this"
Use one for everything:     oxbow --model @main "PROMPT", or model = "@main" in config.toml`,
  open: async (flags, variables) => {
    const loaded = await loadSettings(flags, variables);
    const tables = { value: loaded.settings.providers.value, file: loaded.profilePath };
    const registry = createModelRegistry({ variables, roots: loaded.roots, tables });
    return { commands: routeCommands(new ModelRoutes({ loaded, registry, clock: nodeClock })) };
  },
};

export const run = shellRunner(shell);
