/** What the catalogue adds to the providers' lists: prices, and missing limits. */
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
