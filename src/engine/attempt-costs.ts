/** Describes what the attempts at one answer cost: the usage, the price and the time of the current one. */
import type { ModelName } from "../protocol/events.js";
import { type Cost, NO_COST, NO_USAGE, type Usage } from "../protocol/usage.js";
import type { AnsweringModel } from "./ports.js";
import type { Turn } from "./turn.js";

export class AttemptCosts {
  readonly #turn: Turn;
  #usage: Usage = NO_USAGE;
  #cost: Cost | undefined;
  /** The start of the current attempt. */
  #since: number;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#since = turn.timing.now();
  }

  get usage(): Usage {
    return this.#usage;
  }

  set(usage: Usage, cost: Cost | undefined): void {
    this.#usage = usage;
    this.#cost = cost;
  }

  /** Waiting does not count as work of an attempt. */
  skip(ms: number): void {
    this.#since += ms;
  }

  /** Reports the cost of a failed attempt, although another attempt continues the answer. */
  abandon(by: AnsweringModel): void {
    const { input, output, cache_read, cache_write } = this.#usage;
    if (input + output + cache_read + cache_write > 0) this.#pay(by, { abandoned: true });
    else this.#elapsed();
    this.set(NO_USAGE, undefined);
  }

  pay(by: AnsweringModel): void {
    if (this.#cost !== NO_COST) this.#pay(by, {});
  }

  #pay(by: AnsweringModel, kind: { readonly abandoned?: true }): void {
    const { route } = by;
    const cost = this.#cost;
    const bill = {
      turn: this.#turn.id,
      ...nameOf(by),
      ...(route !== undefined && { route }),
      usage: this.#usage,
      elapsed_ms: this.#elapsed(),
      ...(cost !== undefined && { cost }),
    };
    this.#turn.pay(this.#usage, cost, bill);
    this.#turn.bus.publish("CostIncremented", { ...bill, ...kind });
  }

  /** Milliseconds of this attempt; the next begins now. */
  #elapsed(): number {
    const from = this.#since;
    this.#since = this.#turn.timing.now();
    return Math.round(this.#since - from);
  }
}

export function nameOf({ provider, model }: ModelName): ModelName {
  return { provider, model };
}
