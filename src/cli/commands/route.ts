/** `oxbow route`: what `/route` does, from a script. */

import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { helpLines, parseFlags } from "../../commands/flags.js";
import { refuseAgents } from "../../runtime/agent-limits.js";
import { routeCommand } from "../../runtime/commands/route-command.js";
import { createModelRegistry } from "../../runtime/models/model-registry.js";
import { ModelRoutes } from "../../runtime/models/model-routes.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { nodeClock } from "../../system/node-clock.js";
import { EXIT } from "../exit-codes.js";

const FLAGS = [{ name: "help", short: "h", help: "show this help" }];

const USAGE = `Usage: oxbow route [list | add NAME MODEL… | remove NAME | enable NAME | disable NAME]

A route is a name for a model, or for several models with failover in their order.

${helpLines(FLAGS)}

Use one for a single turn:  oxbow run "@fast summarise this"
Use one for everything:     oxbow --model @main "PROMPT", or model = "@main" in config.toml
`;

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(FLAGS, args, "route");
  if (flags.has("help")) {
    process.stdout.write(USAGE);
    return EXIT.answered;
  }
  const [verb = "list"] = flags.words;
  if (verb !== "list") refuseAgents(variables, `'oxbow route ${verb}'`);
  const loaded = await loadSettings(flags, variables);
  const { settings, roots } = loaded;
  const registry = createModelRegistry({
    variables,
    roots,
    tables: { value: settings.providers.value, file: loaded.profilePath },
  });
  const routes = new ModelRoutes({ loaded, registry, clock: nodeClock });
  const result = await routeCommand(flags.words, routes);
  if ("failure" in result) throw new UsageError(result.failure.message.replaceAll("/route", "oxbow route"));
  process.stdout.write(`${result.text.replaceAll("/route", "oxbow route")}\n`);
  return EXIT.answered;
}
