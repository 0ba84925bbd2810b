/** Tokens of one model call. `input` counts what was neither read from nor written to a cache, so the four add up. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  /** The part of `output` that was thinking, if the provider reports it. */
  readonly reasoning: number;
}

/** US dollars of one model call; the four parts add up to `usd`. An unknown price means no Cost, not a zero. */
export interface Cost {
  readonly usd: number;
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
}

/** The usage of one model in a turn. */
export interface ModelShare {
  readonly provider: string;
  readonly model: string;
  readonly calls: number;
  readonly usage: Usage;
  /** Absent when one of its calls has no known price. */
  readonly cost?: Cost;
}

/** Of an answer that no model gave; that of a free model has a usage. */
export const NO_COST: Cost = { usd: 0, input: 0, output: 0, cache_read: 0, cache_write: 0 };
export const NO_USAGE: Usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 };

/** Rounds to a hundredth of a millionth of a cent: no price is finer, and sums have no floating-point noise. */
export function roundUsd(usd: number): number {
  return Math.round(usd * 1e10) / 1e10;
}

export function addCost(a: Cost, b: Cost): Cost {
  return {
    usd: roundUsd(a.usd + b.usd),
    input: roundUsd(a.input + b.input),
    output: roundUsd(a.output + b.output),
    cache_read: roundUsd(a.cache_read + b.cache_read),
    cache_write: roundUsd(a.cache_write + b.cache_write),
  };
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    reasoning: a.reasoning + b.reasoning,
  };
}
