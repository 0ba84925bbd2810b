/** The facts about a model: limits, abilities and prices. */
import { type Cost, roundUsd, type Usage } from "../../protocol/usage.js";

/** US dollars per million tokens. Default of each rate: that of `input`. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
}

export interface Price extends Rates {
  /** Rates for a whole request whose prompt is longer than `over` tokens, the longest first. */
  readonly tiers?: readonly (Rates & { readonly over: number })[];
}

export interface Abilities {
  readonly tools: boolean;
  readonly images: boolean;
  readonly reasoning: boolean;
  /** Absent when unknown. */
  readonly audio?: boolean;
}

/** One model as the catalogue has it. */
export interface ListedFacts {
  /** The context window in tokens. */
  readonly context: number;
  /** The tokens it can read, if fewer. */
  readonly input?: number;
  /** The tokens of one answer. */
  readonly output: number;
  /** Absent when unknown, which does not mean free. */
  readonly price?: Price;
  readonly abilities: Abilities;
}

export interface ModelFacts extends ListedFacts {
  /** `profile`: from the user's settings. `local`: it runs on the user's machine. `assumed`: nothing is known. */
  readonly source: "profile" | "catalogue" | "local" | "assumed";
  /** The limits are a cautious guess. */
  readonly assumed?: true;
  /** A note for the user about these facts, if any. */
  readonly note?: string;
}

/** For an unknown model: small enough for nearly every model in use. */
export const ASSUMED: ListedFacts = {
  context: 32_768,
  output: 8_192,
  abilities: { tools: true, images: false, reasoning: false },
};

/** The most tokens that the model can read. */
export function readingLimit({ context, input }: Pick<ListedFacts, "context" | "input">): number {
  return Math.min(context, input ?? context);
}

/** The rates for a prompt of this length. */
export function ratesFor(price: Price, promptTokens: number): Rates {
  return price.tiers?.find(({ over }) => promptTokens > over) ?? price;
}

export function costOf(usage: Usage, price: Price): Cost {
  const rates = ratesFor(price, usage.input + usage.cache_read + usage.cache_write);
  const parts = {
    input: dollars(usage.input, rates.input),
    output: dollars(usage.output, rates.output),
    cache_read: dollars(usage.cache_read, rates.cache_read ?? rates.input),
    cache_write: dollars(usage.cache_write, rates.cache_write ?? rates.input),
  };
  return { usd: roundUsd(parts.input + parts.output + parts.cache_read + parts.cache_write), ...parts };
}

function dollars(tokens: number, rate: number): number {
  return roundUsd((tokens * rate) / 1e6);
}

/** The rates from parsed fields; undefined without prices for input and output. */
export function ratesOf(read: { readonly [K in keyof Rates]?: number | undefined }): Rates | undefined {
  const { input, output, cache_read, cache_write } = read;
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
  };
}
