/** The facts of a route with several models: the smallest limits and the highest prices among them. */
import { ASSUMED, type ModelFacts, type Price, type Rates } from "./facts.js";

export function worstOf(all: readonly ModelFacts[]): ModelFacts {
  const [first, ...rest] = all;
  if (first === undefined) return { ...ASSUMED, source: "assumed", assumed: true };
  return rest.reduce(worse, first);
}

function worse(a: ModelFacts, b: ModelFacts): ModelFacts {
  const { price: _price, input: _input, ...known } = a;
  const inputs = [a.input, b.input].filter((input) => input !== undefined);
  const price = a.price && b.price && dearer(a.price, b.price);
  return {
    ...known,
    ...(b.assumed && { assumed: true, source: "assumed" }),
    context: Math.min(a.context, b.context),
    output: Math.min(a.output, b.output),
    ...(inputs.length > 0 && { input: Math.min(...inputs) }),
    abilities: {
      tools: a.abilities.tools && b.abilities.tools,
      images: a.abilities.images && b.abilities.images,
      reasoning: a.abilities.reasoning && b.abilities.reasoning,
      ...(a.abilities.audio !== undefined &&
        b.abilities.audio !== undefined && { audio: a.abilities.audio && b.abilities.audio }),
    },
    ...(price && { price }),
  };
}

/** The higher rates of the two, for prompts of every length. */
function dearer(a: Price, b: Price): Price {
  const rates: readonly Rates[] = [a, ...(a.tiers ?? []), b, ...(b.tiers ?? [])];
  const most = (rate: (rates: Rates) => number) => Math.max(...rates.map(rate));
  return {
    input: most(({ input }) => input),
    output: most(({ output }) => output),
    cache_read: most(({ cache_read, input }) => cache_read ?? input),
    cache_write: most(({ cache_write, input }) => cache_write ?? input),
  };
}
