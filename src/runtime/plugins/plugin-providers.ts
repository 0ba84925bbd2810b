/** Adds the models of plugins to those of Oxbow: `NAME:MODEL` for a provider of a plugin. */
import type { Model } from "../../engine/ports.js";
import type { PluginProvider } from "../../extensions/plugins/api.js";
import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";
import { failure } from "../../protocol/errors.js";
import { CANONICAL_FORM_VERSION } from "../../protocol/handshake.js";
import type { Chosen, ModelChoice, ModelRegistry, ProviderState, Resolved } from "../models/model-registry.js";

/** The same registry if no plugin adds a provider. */
export function withPluginProviders(registry: ModelRegistry, plugins: readonly LoadedPlugin[]): ModelRegistry {
  const providers = new Map(
    plugins.flatMap(({ registrations }) =>
      registrations.providers.map((provider) => [provider.name, provider] as const),
    ),
  );
  if (providers.size === 0) return registry;
  const own = async (spec: string): Promise<Resolved | undefined> => {
    const [name = "", ...rest] = spec.split(":");
    const provider = providers.get(name);
    if (provider === undefined) return undefined;
    const { canonicalForm = 1 } = provider;
    if (canonicalForm !== CANONICAL_FORM_VERSION) {
      const detail = `${name} is written for version ${canonicalForm} of the messages, and Oxbow has ${CANONICAL_FORM_VERSION}.`;
      return noModel(`${detail} Use another version of its plugin.`);
    }
    const model = rest.join(":") || (await firstModel(provider));
    if (model === undefined) return noModel(`Name a model: ${name}:MODEL.`);
    return { model: modelOf(provider, model) };
  };
  return {
    choose: async (choice, person) => (await chosen(choice, own)) ?? registry.choose(choice, person),
    resolve: async (spec) => (await own(spec)) ?? registry.resolve(spec),
    look: async (spec) => (await own(spec)) ?? registry.look(spec),
    embedder: (spec) => registry.embedder(spec),
    names: async () => [...(await registry.names()), ...providers.keys()],
    providers: async (only) => {
      const [others, states] = await Promise.all([
        only !== undefined && providers.has(only) ? [] : registry.providers(only),
        Promise.all([...providers.values()].filter(({ name }) => only === undefined || name === only).map(stateOf)),
      ]);
      return [...others, ...states];
    },
    menu: () => registry.menu(),
    ownProviders: () => registry.ownProviders(),
    numbered: (number) => registry.numbered(number),
  };
}

async function chosen(
  { provider, model }: ModelChoice,
  own: (spec: string) => Promise<Resolved | undefined>,
): Promise<Chosen | undefined> {
  const found = await own([provider, model].filter((word) => word !== undefined).join(":"));
  return found !== undefined && "model" in found ? found : undefined;
}

function modelOf(provider: PluginProvider, model: string): Model {
  const contextTokens = provider.contextTokens?.(model);
  return {
    provider: provider.name,
    family: provider.name,
    model,
    ...(contextTokens !== undefined && { contextTokens }),
    ownPrice: async () => provider.price?.(model),
    stream: (request, { signal }) => streamOf(provider, () => provider.stream(request, { model, signal })),
  };
}

/** An error of the plugin's code is a failure of the request. */
async function* streamOf(provider: PluginProvider, open: () => ReturnType<PluginProvider["stream"]>) {
  let isEnded = false;
  try {
    for await (const batch of open()) {
      isEnded ||= batch.some(({ type }) => type === "stop" || type === "failure");
      yield batch;
    }
  } catch (error) {
    if (isEnded) return;
    const detail = `${provider.name}: ${(error as Error)?.message ?? String(error)}`;
    yield [{ type: "failure" as const, failure: failure("ProviderFailed", { detail }) }];
    return;
  }
  if (!isEnded) yield [{ type: "failure" as const, failure: failure("StreamInterrupted", {}) }];
}

async function firstModel(provider: PluginProvider): Promise<string | undefined> {
  return (await provider.models?.())?.[0];
}

async function stateOf(provider: PluginProvider): Promise<ProviderState> {
  const base = { name: provider.name, baseUrl: "", configured: true };
  try {
    const models = ((await provider.models?.()) ?? []).map((id) => ({ id }));
    return { ...base, ready: true, detail: "from a plugin", models };
  } catch (error) {
    return { ...base, ready: false, detail: (error as Error).message, models: [] };
  }
}

function noModel(detail: string): Resolved {
  return { failure: failure("NoModel", { detail }) };
}
