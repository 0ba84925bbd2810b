/** Describes what the catalogue adds to the providers' lists: prices, and missing limits. */
import type { Catalogue } from "../catalogue/catalogue.js";
import type { Abilities } from "../catalogue/facts.js";
import type { ListedModel } from "../model-list.js";
import { findProvider } from "../named.js";
import type { ProviderState } from "./describe.js";

export async function withCatalogueFacts(
  states: readonly ProviderState[],
  catalogue: Catalogue,
): Promise<readonly ProviderState[]> {
  return Promise.all(
    states.map(async (state) => {
      const models = await Promise.all(state.models.map((model) => withFacts(state, model, catalogue)));
      return { ...state, models };
    }),
  );
}

/** Offers what the catalogue lists for a provider that cannot be reached now: a model can be chosen without the network. */
export async function withCatalogueModels(
  states: readonly ProviderState[],
  catalogue: Catalogue,
): Promise<readonly ProviderState[]> {
  const listed = states.map(async (state) => {
    if (!state.unreached || !state.configured || !isItself(state)) return state;
    return { ...state, models: (await catalogue.ids(state.name)).map((id) => ({ id })) };
  });
  const described = await withCatalogueFacts(await Promise.all(listed), catalogue);
  // Models of another kind, for vectors for example, are no choice here.
  return described.map((state) =>
    state.unreached ? { ...state, models: state.models.filter(({ tools }) => tools) } : state,
  );
}

async function withFacts(state: ProviderState, model: ListedModel, catalogue: Catalogue): Promise<ListedModel> {
  const family = isItself(state) ? state.name : `${state.name}-compatible`;
  const { price, context, abilities, assumed, source } = await catalogue.facts({
    provider: state.name,
    model: model.id,
    family,
  });
  if (source === "local") return model;
  return {
    ...(!assumed && { maxContextTokens: context, ...abilitiesOf(abilities) }),
    ...(price !== undefined && { price: { input: price.input, output: price.output } }),
    ...model,
  };
}

function abilitiesOf({ tools, images, reasoning }: Abilities): Pick<ListedModel, "tools" | "images" | "thinking"> {
  return { tools, images, thinking: reasoning };
}

/** Another server behind the provider's name has its own prices. */
function isItself({ name, baseUrl }: ProviderState): boolean {
  const usual = findProvider(name)?.baseUrl ?? "";
  return URL.canParse(usual) && URL.canParse(baseUrl) && new URL(usual).host === new URL(baseUrl).host;
}
