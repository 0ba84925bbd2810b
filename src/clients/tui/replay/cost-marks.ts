/** The cost of a session up to any event. */
import { groupDigits } from "../../../base/group-digits.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { Step } from "./step.js";

/** US dollars of one model call; undefined if the price is unknown. */
export type Price = (cost: EventPayloads["CostIncremented"]) => number | undefined;

/** As reported with the call. */
export const reportedPrice: Price = ({ cost }) => cost?.usd;

/** The sums up to and with one model call. */
export interface CostMark {
  readonly event: number;
  readonly turn: number;
  /** `provider:model` of this call. */
  readonly model: string;
  readonly promptTokens: number;
  readonly replyTokens: number;
  readonly dollars: number;
  /** Calls without a known price: the dollars are a lower bound. */
  readonly unpriced: number;
}

export class CostCounter {
  readonly #price: Price;
  #turn = 0;
  #last: CostMark | undefined;

  constructor(price: Price = reportedPrice) {
    this.#price = price;
  }

  take(event: Envelope): CostMark | undefined {
    if (event.kind === "TurnStarted") this.#turn++;
    if (event.kind !== "CostIncremented") return undefined;
    const { provider, model, usage } = event.payload;
    const last = this.#last;
    const dollars = this.#price(event.payload);
    const name = `${provider}:${model}`;
    this.#last = {
      event: event.id,
      turn: this.#turn,
      // Most calls are to the same model: one string for all of them.
      model: last?.model === name ? last.model : name,
      promptTokens: (last?.promptTokens ?? 0) + usage.input + usage.cache_read + usage.cache_write,
      replyTokens: (last?.replyTokens ?? 0) + usage.output,
      dollars: (last?.dollars ?? 0) + (dollars ?? 0),
      unpriced: (last?.unpriced ?? 0) + (dollars === undefined ? 1 : 0),
    };
    return this.#last;
  }
}

export function costAt(marks: readonly CostMark[], event: number): CostMark | undefined {
  return marks[countUpTo(marks, event) - 1];
}

/** The model of the step's call, else of the call before. */
export function modelAt(marks: readonly CostMark[], step: Step): string | undefined {
  const next = marks[countUpTo(marks, step.first - 1)];
  return next?.turn === step.turn ? next.model : costAt(marks, step.last)?.model;
}

/** How many marks are at or before the event. */
function countUpTo(marks: readonly CostMark[], event: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.event ?? 0) <= event) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `12,040 in · 310 out`. */
export function formatTokens({ promptTokens, replyTokens }: Pick<CostMark, "promptTokens" | "replyTokens">): string {
  return `${groupDigits(promptTokens)} in · ${groupDigits(replyTokens)} out`;
}

/** `$0.04`; `≥` if some calls have no known price. */
export function formatDollars({ dollars, unpriced }: Pick<CostMark, "dollars" | "unpriced">): string {
  return `${unpriced > 0 ? "≥ " : ""}$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
}
