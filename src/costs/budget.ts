/**
 * A budget: a call reserves from it before it starts and charges it afterwards; runs within runs inherit it.
 *
 * 1. A grant must fit into every budget from here to the root, with everything spent and everything reserved for calls
 *    that have not ended. So parallel calls cannot overspend together: if no call uses more than its grant, no
 *    budget is ever exceeded.
 * 2. A call that does not fit waits while others hold reservations: they may need less. It is refused
 *    if there are none.
 * 3. A charge counts here and in every budget above, once.
 */
import { onAbort } from "../base/abort-tree.js";

export interface Amount {
  readonly usd: number;
  readonly tokens: number;
}

/** An absent amount means no limit. */
export type BudgetLimit = Partial<Amount>;

/** A model call to pay for. */
export interface Ask {
  /** The cost of the shortest answer. */
  readonly fixed: Amount;
  /** The cost of each token of the answer. */
  readonly each: Amount;
  /** A shorter answer is useless. */
  readonly least: number;
  /** The longest answer the model can give. */
  readonly most: number;
  /** Absent if the call is not logged. */
  readonly log?: CallLog | undefined;
}

/** Describes where the log of a call begins. If the process is killed, the log shows what the call was worth. */
export interface CallLog {
  /** The place of the store. */
  readonly store: string;
  readonly session: string;
  /** The last event before the call. */
  readonly after: number;
}

export interface Grant {
  /** The longest answer that the budget covers. */
  readonly output: number;
  /** The budget that limits it; absent if the model could not write more anyway. */
  readonly limitedBy?: Limiter;
  /** Releases the unused part. Further calls do nothing. */
  charge(spent: Amount): Promise<void> | void;
}

export interface Limiter {
  readonly scope: string;
  readonly unit: keyof Amount;
  readonly limit: number;
}

export interface Exhausted extends Limiter {
  readonly spent: number;
  /** Reserved for running calls of other runs. */
  readonly held?: number;
  /** The minimum that the call would need. */
  readonly needed: number;
}

export type Decision = { readonly grant: Grant } | { readonly exhausted: Exhausted };

/** The budget that pays for a call. */
export interface CallBudget {
  /** Rejects when the signal fires first. */
  reserve(ask: Ask, signal?: AbortSignal): Promise<Decision>;
}

export const NOTHING: Amount = { usd: 0, tokens: 0 };
const UNITS = ["usd", "tokens"] as const;
/** Sums of decimal fractions are not exact. */
const TOLERANCE: Amount = { usd: 1e-9, tokens: 0 };

export interface BudgetOptions {
  /** The name for messages. */
  readonly scope: string;
  readonly limit?: BudgetLimit;
  readonly parent?: CallBudget | undefined;
  /** The spending before this run. */
  readonly spent?: Amount;
}

export class Budget implements CallBudget {
  readonly #scope: string;
  readonly #parent: CallBudget | undefined;
  #limit: BudgetLimit;
  #spent: Amount;
  #held: Amount = NOTHING;
  #holders = 0;
  #waiting: (() => void)[] = [];

  constructor({ scope, limit = {}, parent, spent = NOTHING }: BudgetOptions) {
    this.#scope = scope;
    this.#limit = limit;
    this.#parent = parent;
    this.#spent = spent;
  }

  get spent(): Amount {
    return this.#spent;
  }

  get held(): Amount {
    return this.#held;
  }

  get limit(): BudgetLimit {
    return this.#limit;
  }

  /** Applies from the next call on. */
  set limit(limit: BudgetLimit) {
    this.#limit = limit;
    this.#wake();
  }

  /** A budget whose spending counts here too. */
  child(scope: string, limit: BudgetLimit = {}): Budget {
    return new Budget({ scope, limit, parent: this });
  }

  async reserve(ask: Ask, signal?: AbortSignal): Promise<Decision> {
    let output = affordable(ask, this.#limit, plus(this.#spent, this.#held));
    while (output < ask.least) {
      if (this.#holders === 0) return { exhausted: this.#exhaustedBy(ask) };
      await this.#change(signal);
      output = affordable(ask, this.#limit, plus(this.#spent, this.#held));
    }
    const limitedBy = output < ask.most ? { limitedBy: this.#limiterOf(amountOf(ask, output + 1)) } : {};
    const hold = this.#hold(amountOf(ask, output));
    if (this.#parent === undefined) return { grant: { output, ...limitedBy, charge: (spent) => hold.charge(spent) } };
    let above: Decision;
    try {
      above = await this.#parent.reserve({ ...ask, most: output }, signal);
    } catch (error) {
      hold.charge(NOTHING);
      throw error;
    }
    if ("exhausted" in above) {
      hold.charge(NOTHING);
      return above;
    }
    const { grant } = above;
    hold.shrinkTo(amountOf(ask, grant.output));
    return {
      grant: {
        ...limitedBy,
        ...grant,
        charge: (spent) => {
          hold.charge(spent);
          return grant.charge(spent);
        },
      },
    };
  }

  #hold(amount: Amount) {
    let kept: Amount | undefined = amount;
    this.#holders++;
    this.#held = plus(this.#held, amount);
    return {
      shrinkTo: (less: Amount) => {
        if (kept === undefined) return;
        this.#held = plus(minus(this.#held, kept), less);
        kept = less;
        this.#wake();
      },
      charge: (spent: Amount) => {
        if (kept === undefined) return;
        this.#holders--;
        this.#held = this.#holders === 0 ? NOTHING : minus(this.#held, kept);
        this.#spent = plus(this.#spent, spent);
        kept = undefined;
        this.#wake();
      },
    };
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }

  async #change(signal: AbortSignal | undefined): Promise<void> {
    let stopListening = () => {};
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push(resolve);
      if (signal !== undefined) stopListening = onAbort(signal, () => reject(new Error("cancelled")));
    });
    stopListening();
  }

  #exhaustedBy(ask: Ask): Exhausted {
    const least = amountOf(ask, ask.least);
    const limiter = this.#limiterOf(least);
    return { ...limiter, spent: this.#spent[limiter.unit], needed: least[limiter.unit] };
  }

  #limiterOf(amount: Amount): Limiter {
    return limiterOf(this.#scope, this.#limit, { taken: plus(this.#spent, this.#held), amount });
  }
}

/** The limit that this amount would exceed. */
export function limiterOf(
  scope: string,
  limit: BudgetLimit,
  { taken, amount }: { readonly taken: Amount; readonly amount: Amount },
): Limiter {
  const unit = UNITS.find((each) => roomFor(each, limit, taken) < amount[each]) ?? "usd";
  return { scope, unit, limit: limit[unit] ?? 0 };
}

/** The longest answer that fits; negative if not even the prompt fits. */
export function affordable(ask: Ask, limit: BudgetLimit, taken: Amount): number {
  let output = ask.most;
  for (const unit of UNITS) {
    const room = roomFor(unit, limit, taken) - ask.fixed[unit];
    if (room < 0) return -1;
    if (ask.each[unit] > 0) output = Math.min(output, Math.floor(room / ask.each[unit]));
  }
  return output;
}

function roomFor(unit: keyof Amount, limit: BudgetLimit, taken: Amount): number {
  const most = limit[unit];
  return most === undefined ? Number.POSITIVE_INFINITY : most - taken[unit] + TOLERANCE[unit];
}

export function amountOf({ fixed, each }: Pick<Ask, "fixed" | "each">, output: number): Amount {
  return { usd: fixed.usd + each.usd * output, tokens: fixed.tokens + each.tokens * output };
}

export function plus(a: Amount, b: Amount): Amount {
  return { usd: a.usd + b.usd, tokens: a.tokens + b.tokens };
}

function minus(a: Amount, b: Amount): Amount {
  return { usd: a.usd - b.usd, tokens: a.tokens - b.tokens };
}
