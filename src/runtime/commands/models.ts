/** `models` and `models test`: the usable models, what the others need, and what a model can really do. */
import { nearest } from "../../base/nearest.js";
import type { Variables } from "../../base/variables.js";
import { MODELS_LIST, MODELS_TEST } from "../../commands/catalogue/models.js";
import {
  asValue,
  COMMAND_EXIT,
  type Command,
  type CommandArguments,
  type CommandResult,
  refuse,
} from "../../commands/command.js";
import type { ProviderState } from "../../providers/selection/describe.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { ModelRegistry } from "../models/model-registry.js";
import type { Settings } from "../settings/settings.js";

export interface ModelsPort {
  readonly registry: ModelRegistry;
  readonly settings: Settings;
  readonly roots: Roots;
  readonly variables: Variables;
  /** Runs it during a conversation, so that the same cancel stops it. */
  readonly aside?: <T>(action: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}

export function modelsCommands(port: ModelsPort): readonly Command[] {
  return [
    { ...MODELS_LIST, run: (args) => listModels(args, port) },
    {
      ...MODELS_TEST,
      run: async (args, context) => {
        const { testModel } = await import("./models-test.js");
        const { aside = (action) => action(context.signal) } = port;
        return aside((signal) => testModel(args, port, { ...context, signal }));
      },
    },
  ];
}

async function listModels(args: CommandArguments, port: ModelsPort): Promise<CommandResult> {
  const { registry, settings, roots, variables } = port;
  const [{ withCatalogueFacts }, { openCatalogue }, { modelTable }] = await Promise.all([
    import("../../providers/selection/catalogue-facts.js"),
    import("../models/open-catalogue.js"),
    import("../../providers/selection/model-table.js"),
  ]);
  if (args.hasFlag("refresh")) {
    const { refresh } = await import("../models/refresh-catalogue.js");
    await refresh({ settings, roots }, variables);
  }
  const only = args.text("PROVIDER");
  const listed = await registry.providers(only);
  if (listed.length === 0 && only !== undefined) return refuse(unknown(only, await registry.names()));
  const states = await withCatalogueFacts(listed, openCatalogue({ settings, roots }));
  const isReady = only === undefined || states.every((state) => state.ready);
  const value = asValue(states.map(asJson));
  return { text: modelTable(states).text, value, ...(!isReady && { exitCode: COMMAND_EXIT.noModel }) };
}

function unknown(name: string, known: readonly string[]): string {
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
