/** Tokens and time of turns, and the estimate for the next one from the last five. */
import type { Cost, ModelShare, Usage } from "../protocol/usage.js";
import { formatUsd } from "./budget-text.js";
import { groupDigits } from "./group-digits.js";

export interface TurnStats {
  readonly promptTokens: number;
  /** The part of them that the provider read from its cache. */
  readonly cachedTokens?: number;
  readonly replyTokens: number;
  /** Of the whole turn, tools included. */
  readonly elapsedMs: number;
  /** US dollars, where the price is known. */
  readonly usd?: number;
  /** The usage of each model, if there was more than one. */
  readonly shares?: readonly ModelShare[];
}

const WINDOW = 5;

export interface TurnFacts {
  readonly cost?: Pick<Cost, "usd"> | undefined;
  readonly shares?: readonly ModelShare[] | undefined;
}

export function turnStats(usage: Usage, elapsedMs: number, { cost, shares }: TurnFacts = {}): TurnStats {
  return {
    promptTokens: usage.input + usage.cache_read + usage.cache_write,
    cachedTokens: usage.cache_read,
    replyTokens: usage.output,
    elapsedMs,
    ...(cost !== undefined && { usd: cost.usd }),
    ...(shares !== undefined && { shares }),
  };
}

/** `1,204 in (80% cached) · 56 out · 3.2 s · $0.0045`; without tokens if the provider reported none, without an unknown price. */
export function formatStats({
  promptTokens,
  cachedTokens = 0,
  replyTokens,
  elapsedMs,
  usd,
  shares,
}: TurnStats): string {
  const elapsed = `${(elapsedMs / 1000).toFixed(1)} s`;
  if (promptTokens === 0 && replyTokens === 0) return elapsed;
  const share = Math.round((100 * cachedTokens) / promptTokens) || 0;
  const cached = share === 0 ? "" : ` (${share}% cached)`;
  const paid = usd === undefined || usd === 0 ? "" : ` · ${formatUsd(usd)}`;
  return `${groupDigits(promptTokens)} in${cached} · ${groupDigits(replyTokens)} out · ${elapsed}${paid}${split(shares)}`;
}

/** ` (anthropic:large $0.0300 · openai:small $0.0012)` */
function split(shares: readonly ModelShare[] = []): string {
  if (shares.length < 2) return "";
  const parts = shares.map(({ provider, model, cost, usage }) => {
    const amount =
      cost === undefined
        ? `${groupDigits(usage.input + usage.cache_read + usage.cache_write + usage.output)} tokens`
        : formatUsd(cost.usd);
    return `${provider}:${model} ${amount}`;
  });
  return ` (${parts.join(" · ")})`;
}

export class StatsWindow {
  readonly #turns: TurnStats[] = [];

  record(stats: TurnStats): void {
    this.#turns.push(stats);
    if (this.#turns.length > WINDOW) this.#turns.shift();
  }

  /** Mean over the turns with token counts. */
  estimateMs(): number | undefined {
    const known = this.#turns.filter((turn) => turn.replyTokens > 0 && turn.elapsedMs > 0);
    if (known.length === 0) return undefined;
    return known.reduce((sum, turn) => sum + turn.elapsedMs, 0) / known.length;
  }
}

export function estimateFrom(turns: readonly TurnStats[]): number | undefined {
  const window = new StatsWindow();
  for (const turn of turns) window.record(turn);
  return window.estimateMs();
}

/** `[8s]`, `[8s / ~12s]`; the estimate disappears once the turn takes longer. */
export function timerLabel(elapsedMs: number, estimateMs: number | undefined): string {
  const elapsed = Math.floor(elapsedMs / 1000);
  const estimate = estimateMs === undefined ? 0 : Math.round(estimateMs / 1000);
  return estimate > 0 && elapsed <= estimate ? `[${elapsed}s / ~${estimate}s]` : `[${elapsed}s]`;
}
