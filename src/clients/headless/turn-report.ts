/** Measures a turn, and says how it ended: why it failed, what it took and cost. */
import type { Clock } from "../../base/clock.js";
import { safeText } from "../../base/terminal-text.js";
import { formatStats, StatsWindow, type TurnStats, turnStats } from "../../base/turn-stats.js";
import type { EventPayloads } from "../../protocol/events.js";

export interface TurnReportOptions {
  /** Earlier turns, to judge the next one by. */
  readonly recent?: readonly TurnStats[] | undefined;
  readonly hidesCost?: boolean | undefined;
}

export class TurnReport {
  readonly #hidesCost: boolean;
  readonly #clock: Clock;
  readonly #recent = new StatsWindow();
  #startedAt = 0;

  constructor(clock: Clock, { recent = [], hidesCost = false }: TurnReportOptions = {}) {
    this.#hidesCost = hidesCost;
    this.#clock = clock;
    for (const stats of recent) this.#recent.record(stats);
  }

  begin(): void {
    this.#startedAt = this.#clock.now();
  }

  /** Tells how long the next turn may take; undefined without a turn to judge by. */
  estimateMs(): number | undefined {
    return this.#recent.estimateMs();
  }

  /** `problem` is why it failed; `note` is any other end that the user should know; `numbers` are tokens, time and cost. */
  end(result: EventPayloads["TurnEnded"]): {
    readonly problem?: string;
    readonly note?: string;
    readonly numbers: string;
  } {
    const { outcome, failure, truncated, usage, cost, by_model: shares } = result;
    const stats = turnStats(usage, this.#clock.now() - this.#startedAt, this.#hidesCost ? {} : { cost, shares });
    if (outcome === "answered") this.#recent.record(stats);
    const numbers = formatStats(stats);
    if (failure !== undefined) return { problem: safeText(failure.message), numbers };
    if (outcome === "cancelled") return { note: "Cancelled.", numbers };
    return truncated ? { note: "The answer was cut off at the model's output limit.", numbers } : { numbers };
  }
}
