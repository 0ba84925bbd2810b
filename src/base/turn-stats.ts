/** Tokens and time of turns (feature M15), and the estimate for the next one from the last five. */
import type { Cost, Usage } from "../protocol/usage.js";
import { formatUsd } from "./budget-text.js";
import { groupDigits } from "./group-digits.js";

export interface TurnStats {
  readonly promptTokens: number;
  readonly replyTokens: number;
  readonly elapsedMs: number;
  /** US dollars, where the price is known. */
  readonly usd?: number;
}

const WINDOW = 5;

export function turnStats(usage: Usage, elapsedMs: number, cost?: Pick<Cost, "usd">): TurnStats {
  return {
    promptTokens: usage.input + usage.cache_read + usage.cache_write,
    replyTokens: usage.output,
    elapsedMs,
    ...(cost !== undefined && { usd: cost.usd }),
  };
}

export function tokensPerSecond(stats: TurnStats): number {
  return stats.elapsedMs > 0 ? stats.replyTokens / (stats.elapsedMs / 1000) : 0;
}

/** `1,204 in · 56 out · 3.2 s · 17.5 tokens/s · $0.0045`; without tokens when the provider told none, without a price that is not known. */
export function formatStats(stats: TurnStats): string {
  const elapsed = `${(stats.elapsedMs / 1000).toFixed(1)} s`;
  if (stats.promptTokens === 0 && stats.replyTokens === 0) return elapsed;
  const count = (tokens: number) => groupDigits(tokens);
  const paid = stats.usd === undefined || stats.usd === 0 ? "" : ` · ${formatUsd(stats.usd)}`;
  return `${count(stats.promptTokens)} in · ${count(stats.replyTokens)} out · ${elapsed} · ${tokensPerSecond(stats).toFixed(1)} tokens/s${paid}`;
}

export class StatsWindow {
  readonly #turns: TurnStats[] = [];

  record(stats: TurnStats): void {
    this.#turns.push(stats);
    if (this.#turns.length > WINDOW) this.#turns.shift();
  }

  /** Mean of reply tokens over speed, over the turns that told their tokens. */
  estimateMs(): number | undefined {
    const known = this.#turns.filter((turn) => turn.replyTokens > 0 && turn.elapsedMs > 0);
    if (known.length === 0) return undefined;
    const total = known.reduce((sum, turn) => sum + (turn.replyTokens / tokensPerSecond(turn)) * 1000, 0);
    return total / known.length;
  }
}

export function estimateFrom(turns: readonly TurnStats[]): number | undefined {
  const window = new StatsWindow();
  for (const turn of turns) window.record(turn);
  return window.estimateMs();
}

/** `[8s]`, `[8s / ~12s]`; the estimate goes once it was wrong. */
export function timerLabel(elapsedMs: number, estimateMs: number | undefined): string {
  const elapsed = Math.floor(elapsedMs / 1000);
  const estimate = estimateMs === undefined ? 0 : Math.round(estimateMs / 1000);
  return estimate > 0 && elapsed <= estimate ? `[${elapsed}s / ~${estimate}s]` : `[${elapsed}s]`;
}
