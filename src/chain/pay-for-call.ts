/**
 * One model call within a budget.
 *
 * 1. Before the call it reserves the estimated prompt and the longest answer that the budgets allow. The request limits the answer to
 *    that length, so the model cannot exceed the reservation.
 * 2. The provider's count for the last call improves the next estimate; cached tokens are assumed to be still cached.
 * 3. It charges when the stream ends, in any way: by the provider's count, or by an estimate of what arrived. For a model
 *    made of several, it charges for each model that was called. A cancel charges at once: the program may be about to end.
 * 4. A model without a known price is not called on a budget in dollars.
 */

import { onAbort } from "../base/abort-tree.js";
import { formatTokens, formatUsd } from "../base/budget-text.js";
import { estimateTokens } from "../base/estimate-tokens.js";
import { type Amount, type Ask, type CallBudget, type Grant, type Limiter, NOTHING, plus } from "../costs/budget.js";
import { TurnFailure } from "../engine/cancel.js";
import type { Model, ModelEvent, ModelRequest, ModelStream, Next, RequestContext } from "../engine/ports.js";
import { type Failure, failure } from "../protocol/errors.js";
import { NO_USAGE, type Usage } from "../protocol/usage.js";
import { costOf, type ModelFacts, type Price, ratesFor } from "../providers/catalogue/facts.js";
import { estimateRequestTokens } from "../providers/tokens/estimate-request.js";
import type { CostTracker } from "./services.js";

/** A shorter answer would be useless. */
const LEAST_OUTPUT = 256;
/** The reservation for an answer without a limit: less than the longest answer of the model, which is never needed at once. */
const USUAL_OUTPUT = 32_000;
/** The estimate may be too low by this much: at first, and once it was compared with the provider's count (docs/design/costs.md). */
const MARGIN = 1.2;
const LEARNT_MARGIN = 1.05;

interface Experience {
  /** Tokens that the provider counted for each that was estimated. */
  readonly ratio: number;
  /** Tokens of the prompt that it has in its cache. */
  readonly cached: number;
}

const experiences = new WeakMap<Model, Experience>();

export interface Payment {
  readonly costs: CostTracker;
  readonly budget: CallBudget;
  readonly next: Next<ModelRequest, RequestContext, ModelStream>;
}

export async function payForCall(
  request: ModelRequest,
  context: RequestContext,
  payment: Payment,
): Promise<ModelStream> {
  const { costs, next } = payment;
  const { model, signal } = context;
  const facts = await costs.facts(model);
  if (facts.price === undefined && costs.countsDollars) {
    throw new TurnFailure(noPrice(`${model.provider}:${model.model}`, costs));
  }
  const estimate = estimateRequestTokens(request, model.family);
  const grant = await reserve({ request, estimate, facts }, context, payment);
  const { limitedBy, output } = grant;
  const cutBy = limitedBy && reached(limitedBy, "the answer used the rest of it", costs);
  const bill = new Bill({ grant, model, estimate, price: facts.price, cutBy });
  const stopListening = onAbort(signal, () => void bill.settle());
  try {
    const stream = await next({ ...request, maxOutputTokens: output });
    return charged(stream, bill, stopListening);
  } catch (error) {
    stopListening();
    await bill.settle();
    throw error;
  }
}

interface PlannedCall {
  readonly request: ModelRequest;
  /** Tokens of the prompt. */
  readonly estimate: number;
  readonly facts: ModelFacts;
}

async function reserve(call: PlannedCall, context: RequestContext, { costs, budget }: Payment): Promise<Grant> {
  const { model, signal } = context;
  const { ratio = undefined, cached = 0 } = experiences.get(model) ?? {};
  const prompt = Math.ceil(call.estimate * (ratio === undefined ? MARGIN : ratio * LEARNT_MARGIN));
  const log = await costs.callLog?.();
  let decision = await budget.reserve({ ...askFor(call, { prompt, cached }), log }, signal);
  if ("exhausted" in decision) {
    // The budget is nearly used up: an exact count by the provider is worth a request.
    const counted = await model.countTokens?.(call.request, context);
    if (counted !== undefined && counted < prompt) {
      decision = await budget.reserve({ ...askFor(call, { prompt: counted, cached }), log }, signal);
    }
  }
  if ("grant" in decision) return decision.grant;
  const { unit, spent, held = 0, needed } = decision.exhausted;
  const others = held > 0 ? `, ${shown(unit, held)} is reserved by other runs` : "";
  const detail = `${shown(unit, spent)} of it is spent${others} and the next model call needs ${shown(unit, needed)} or more`;
  throw new TurnFailure(reached(decision.exhausted, detail, costs));
}

function askFor(
  { request, facts }: PlannedCall,
  { prompt, cached }: { readonly prompt: number; readonly cached: number },
): Ask {
  const rates = ratesFor(facts.price ?? { input: 0, output: 0 }, prompt);
  const read = Math.min(prompt, cached);
  const usd =
    read * (rates.cache_read ?? rates.input) + (prompt - read) * Math.max(rates.input, rates.cache_write ?? 0);
  const most = Math.min(request.maxOutputTokens ?? USUAL_OUTPUT, facts.output);
  return {
    fixed: { usd: usd / 1e6, tokens: prompt },
    each: { usd: rates.output / 1e6, tokens: 1 },
    least: Math.min(LEAST_OUTPUT, most),
    most,
  };
}

interface Charge {
  readonly grant: Grant;
  readonly model: Model;
  /** Tokens of the prompt. */
  readonly estimate: number;
  readonly price: Price | undefined;
  /** The message when the answer uses the rest of the budget. */
  readonly cutBy: Failure | undefined;
}

/** Counts what arrives, over all attempts. */
class Bill {
  readonly #charge: Charge;
  #earlier = NOTHING;
  #counted: Counted | undefined;
  #words = "";
  #isWhole = false;

  constructor(charge: Charge) {
    this.#charge = charge;
  }

  take(event: ModelEvent): ModelEvent {
    const { cutBy } = this.#charge;
    if (event.type === "usage") this.#counted = event;
    else if (event.type === "text" || event.type === "thinking") this.#words += event.text;
    else if (event.type === "block" && event.block.type === "tool_call")
      this.#words += JSON.stringify(event.block.args);
    else if (event.type === "again" || event.type === "failover") this.#begin();
    else if (event.type === "stop") {
      this.#isWhole = true;
      if (cutBy !== undefined && event.reason === "length") return { type: "failure", failure: cutBy };
    }
    return event;
  }

  /** Only the first call has an effect. */
  async settle(): Promise<void> {
    const { grant, model, estimate } = this.#charge;
    if (this.#counted !== undefined) learn(model, this.#counted.usage, estimate);
    await grant.charge(this.#spent());
  }

  /** Another attempt begins. */
  #begin(): void {
    this.#earlier = this.#spent();
    this.#counted = undefined;
    this.#words = "";
    this.#isWhole = false;
  }

  #spent(): Amount {
    return plus(this.#earlier, this.#ofAttempt());
  }

  #ofAttempt(): Amount {
    const { estimate, price } = this.#charge;
    const counted = this.#counted;
    // Refused before any output: nothing is charged.
    if (counted === undefined && this.#words === "") return NOTHING;
    const usage = counted?.usage ?? { ...NO_USAGE, input: estimate };
    // Most providers count the output of an answer at its end.
    const isCounted = counted !== undefined && this.#isWhole;
    const output = isCounted ? usage.output : Math.max(usage.output, estimateTokens(this.#words));
    const whole = { ...usage, output };
    const tokens = whole.input + whole.output + whole.cache_read + whole.cache_write;
    if (counted?.cost !== undefined && output === usage.output) return { usd: counted.cost.usd, tokens };
    return { usd: price === undefined ? 0 : costOf(whole, price).usd, tokens };
  }
}

async function* charged(
  stream: ModelStream,
  bill: Bill,
  stopListening: () => void,
): AsyncGenerator<readonly ModelEvent[]> {
  try {
    for await (const batch of stream) yield batch.map((event) => bill.take(event));
  } finally {
    stopListening();
    await bill.settle();
  }
}

/** The provider's count, and its cost if the price of the model that answered is known. */
type Counted = Pick<Extract<ModelEvent, { type: "usage" }>, "usage" | "cost">;

function learn(model: Model, usage: Usage, estimate: number): void {
  const cached = usage.cache_read + usage.cache_write;
  const ratio = (usage.input + cached) / Math.max(1, estimate);
  experiences.set(model, { ratio: Math.max(0.5, ratio), cached });
}

function reached({ scope, unit, limit }: Limiter, detail: string, costs: CostTracker): Failure {
  return failure("BudgetReached", { scope, limit: shown(unit, limit), detail, how: costs.adviceFor(scope) });
}

function shown(unit: keyof Amount, value: number): string {
  return unit === "usd" ? formatUsd(value) : formatTokens(value);
}

function noPrice(model: string, costs: CostTracker): Failure {
  const detail = `The price of ${model} is unknown, so Oxbow cannot keep a budget in dollars. ${costs.priceAdvice(model)}, or set the budget in tokens.`;
  return failure("ConfigurationInvalid", { detail });
}
