/** `oxbow models`: what can be used now, and what is missing for the rest. */

import { nearest } from "../../base/nearest.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { type Flag, helpLines, parseFlags } from "../../commands/flags.js";
import { withCatalogueFacts } from "../../providers/selection/catalogue-facts.js";
import type { ProviderState } from "../../providers/selection/describe.js";
import { createModelRegistry } from "../../runtime/models/model-registry.js";
import { openCatalogue } from "../../runtime/models/open-catalogue.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { EXIT } from "../exit-codes.js";

export const FLAGS: readonly Flag[] = [
  { name: "json", help: "as JSON" },
  { name: "refresh", help: "fetch the newest limits and prices (from models.dev) first" },
  { name: "help", short: "h", help: "show this help" },
];

const USAGE = `Usage: oxbow models [PROVIDER] [--json] [--refresh]
       oxbow models test MODEL    measure what a model can really do (see 'oxbow models test --help')

Lists the models of every provider that is ready, or of one, and what the others need.

${helpLines(FLAGS)}

Use one:  oxbow --model PROVIDER:NAME "PROMPT"
Add one:  a .conf file or a program in the folder 'providers' of Oxbow's configuration, or [providers.NAME] in config.toml
`;

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  if (args[0] === "test") return (await import("./models-test.js")).run(args.slice(1), variables);
  const flags = parseFlags(FLAGS, args, "models");
  if (flags.has("help")) {
    process.stdout.write(USAGE);
    return EXIT.answered;
  }
  const { settings, roots, profilePath } = await loadSettings(flags, variables);
  const tables = { value: settings.providers.value, file: profilePath };
  const registry = createModelRegistry({ variables, roots, tables });
  if (flags.has("refresh")) {
    const { refresh } = await import("../../runtime/models/refresh-catalogue.js");
    await refresh({ settings, roots }, variables);
  }
  const [only, ...more] = flags.words;
  if (more.length > 0) throw new UsageError("Name one provider, or none for all.");
  const listed = await registry.providers(only);
  if (listed.length === 0 && only !== undefined) throw new UsageError(await unknown(only, registry.names()));
  const states = await withCatalogueFacts(listed, openCatalogue({ settings, roots }));
  if (flags.has("json")) process.stdout.write(`${JSON.stringify(states.map(asJson), null, 2)}\n`);
  else {
    const { modelTable } = await import("../../providers/selection/model-table.js");
    process.stdout.write(`${modelTable(states).text}\n`);
  }
  return only === undefined || states.every((state) => state.ready) ? EXIT.answered : EXIT.noModel;
}

async function unknown(name: string, names: Promise<readonly string[]>): Promise<string> {
  const known = await names;
  const near = nearest(name, known);
  if (near === undefined && nearest(name, ["test"]) !== undefined) {
    return `There is no provider '${name}'. Did you mean 'oxbow models test'?`;
  }
  return `There is no provider '${name}'. ${near === undefined ? `There are ${known.join(", ")}.` : `Did you mean ${near}?`}`;
}

function asJson({ name, baseUrl, ready, detail, models }: ProviderState) {
  return {
    name,
    ready,
    detail,
    baseUrl,
    models: models.map(({ id, label, maxContextTokens, tools, bytes, price }) => ({
      id,
      model: `${name}:${id}`,
      label,
      context_tokens: maxContextTokens,
      tools,
      bytes,
      price,
    })),
  };
}
