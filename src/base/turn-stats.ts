/** Tokens and time of turns, and the estimate for the next one from the last five. */
import type { Cost, ModelShare, Usage } from "../protocol/usage.js";
import { formatUsd } from "./budget-text.js";
import { groupDigits } from "./group-digits.js";

export interface TurnStats {
  readonly promptTokens: number;
  readonly replyTokens: number;
  /** Of the whole turn, tools included. */
  readonly elapsedMs: number;
  /** The part of it that the model calls took; default: all of it. */
  readonly modelMs?: number;
  /** It was interrupted or failed, so the tokens and the time of the model are not of the same calls. */
  readonly cut?: boolean;
  /** US dollars, where the price is known. */
  readonly usd?: number;
  /** The usage of each model, if there was more than one. */
  readonly shares?: readonly ModelShare[];
}

const WINDOW = 5;

export interface TurnFacts {
  readonly modelMs?: number;
  readonly outcome?: string;
  readonly cost?: Pick<Cost, "usd"> | undefined;
  readonly shares?: readonly ModelShare[] | undefined;
}

export function turnStats(usage: Usage, elapsedMs: number, facts: TurnFacts = {}): TurnStats {
  const { modelMs, outcome = "answered", cost, shares } = facts;
  return {
    promptTokens: usage.input + usage.cache_read + usage.cache_write,
    replyTokens: usage.output,
    elapsedMs,
    ...(modelMs !== undefined && { modelMs }),
    ...(outcome !== "answered" && { cut: true }),
    ...(cost !== undefined && { usd: cost.usd }),
    ...(shares !== undefined && { shares }),
  };
}

function tokensPerSecond({ replyTokens, elapsedMs, modelMs = elapsedMs }: TurnStats): number {
  return modelMs > 0 ? replyTokens / (modelMs / 1000) : 0;
}

/**
 * `1,204 in · 56 out · 3.2 s · 17.5 tokens/s · $0.0045`; without tokens if the provider reported
 * none, without the speed of a turn that was cut, without an unknown price.
 */
export function formatStats(stats: TurnStats): string {
  const elapsed = `${(stats.elapsedMs / 1000).toFixed(1)} s`;
  if (stats.promptTokens === 0 && stats.replyTokens === 0) return elapsed;
  const count = (tokens: number) => groupDigits(tokens);
  const paid = stats.usd === undefined || stats.usd === 0 ? "" : ` · ${formatUsd(stats.usd)}`;
  const speed = stats.cut ? "" : ` · ${tokensPerSecond(stats).toFixed(1)} tokens/s`;
  return `${count(stats.promptTokens)} in · ${count(stats.replyTokens)} out · ${elapsed}${speed}${paid}${split(stats.shares)}`;
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
