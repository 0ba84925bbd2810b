/** Limits and prices from the user's profile: `[models."openai:my-model"]`. */
import { isJsonObject } from "../../protocol/json.js";
import type { Abilities, ListedFacts, Price } from "./facts.js";

export interface Override {
  readonly context?: number;
  readonly input?: number;
  readonly output?: number;
  readonly price?: Price;
  readonly abilities: Partial<Abilities>;
}

/** By `provider:name`. */
export type Overrides = ReadonlyMap<string, Override>;

const TOKENS = ["context", "input", "output"] as const;
const PRICES = ["price_input", "price_output", "price_cache_read", "price_cache_write"] as const;
const ABILITIES = ["tools", "images", "reasoning", "audio"] as const;
const KNOWN: readonly string[] = [...TOKENS, ...PRICES, ...ABILITIES];

/** Throws with a message that names the mistake and its place. */
export function readOverrides(value: unknown): Overrides {
  if (!isJsonObject(value)) throw new Error('expected tables such as [models."openai:my-model"].');
  return new Map(Object.entries(value).map(([name, table]) => [name, readOverride(name, table)]));
}

function readOverride(name: string, table: unknown): Override {
  const place = `[models."${name}"]`;
  if (!/^[^:\s]+:\S/.test(name)) throw new Error(`${place}: expected PROVIDER:NAME, such as "openai:gpt-5".`);
  if (!isJsonObject(table)) throw new Error(`${place}: expected a table.`);
  const unknown = Object.keys(table).find((key) => !KNOWN.includes(key));
  if (unknown !== undefined) throw new Error(`${place}: there is no '${unknown}'; there are ${KNOWN.join(", ")}.`);
  const number = (key: string, least: number): number | undefined => {
    const found = table[key];
    if (found === undefined) return undefined;
    if (typeof found === "number" && Number.isFinite(found) && found >= least) return found;
    throw new Error(`${place} ${key}: expected a number from ${least}, got ${JSON.stringify(found)}.`);
  };
  const [context, input, output] = TOKENS.map((key) => number(key, 1));
  const abilities: Record<string, boolean> = {};
  for (const key of ABILITIES) {
    const found = table[key];
    if (found === undefined) continue;
    if (typeof found !== "boolean") throw new Error(`${place} ${key}: expected true or false.`);
    abilities[key] = found;
  }
  const price = readPrice(place, number);
  return {
    ...(context !== undefined && { context }),
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(price !== undefined && { price }),
    abilities,
  };
}

function readPrice(place: string, number: (key: string, least: number) => number | undefined): Price | undefined {
  const [input, output, cache_read, cache_write] = PRICES.map((key) => number(key, 0));
  if (input !== undefined && output !== undefined) {
    return {
      input,
      output,
      ...(cache_read !== undefined && { cache_read }),
      ...(cache_write !== undefined && { cache_write }),
    };
  }
  const given = [input, output, cache_read, cache_write].some((each) => each !== undefined);
  if (given) throw new Error(`${place}: a price needs price_input and price_output (US dollars per million tokens).`);
  return undefined;
}

/** The facts with the user's values instead of the listed ones. */
export function withOverride(facts: ListedFacts, override: Override): ListedFacts {
  const { context = facts.context, output = facts.output, price = facts.price } = override;
  // If the user sets the window, the listed input limit no longer applies.
  const input = override.input ?? (override.context === undefined ? facts.input : undefined);
  return {
    context,
    ...(input !== undefined && { input }),
    output,
    ...(price !== undefined && { price }),
    abilities: { ...facts.abilities, ...override.abilities },
  };
}
