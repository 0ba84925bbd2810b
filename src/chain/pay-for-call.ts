/**
 * One model call within a budget.
 *
 * 1. Before the call it reserves the estimated prompt and the longest answer that the budgets allow. The request limits the answer to
 *    that length, so the model cannot exceed the reservation.
 * 2. The provider's count for the last call improves the next estimate; cached tokens are assumed to be still cached.
 * 3. It charges when the stream ends, in any way: by the provider's count, or by an estimate of what arrived. For a model
 *    made of several, it charges for each model that was called.
 * 4. A model without a known price is not called on a budget in dollars.
 */

import { formatTokens, formatUsd } from "../base/budget-text.js";
import { estimateTokens } from "../base/estimate-tokens.js";
import { type Amount, type Ask, type CallBudget, type Grant, type Limiter, NOTHING } from "../costs/budget.js";
import { TurnFailure } from "../engine/cancel.js";
import type { Model, ModelEvent, ModelRequest, ModelStream, Next, RequestContext } from "../engine/ports.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { Usage } from "../protocol/usage.js";
import { costOf, type ModelFacts, type Price, ratesFor } from "../providers/catalogue/facts.js";
import { estimateRequestTokens } from "../providers/tokens/estimate-request.js";
import type { CostTracker } from "./services.js";

/** A shorter answer would be useless. */
const LEAST_OUTPUT = 256;
/** The reservation for an answer without a limit: less than the longest answer of the model, which is never needed at once. */
const USUAL_OUTPUT = 32_000;
/** The estimate may be too low by this much: at first, and once it was compared with the provider's count (docs/costs.md). */
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
  const { model } = context;
  const facts = await costs.facts(model);
  if (facts.price === undefined && costs.countsDollars) {
    throw new TurnFailure(noPrice(`${model.provider}:${model.model}`, costs));
  }
  const estimate = estimateRequestTokens(request, model.family);
  const grant = await reserve({ request, estimate, facts }, context, payment);
  const { limitedBy, output } = grant;
  const cutBy = limitedBy && reached(limitedBy, "the answer used the rest of it", costs);
  try {
    const stream = await next({ ...request, maxOutputTokens: output });
    const charge = { grant, model, estimate, price: facts.price, ...(cutBy !== undefined && { cutBy }) };
    return charged(stream, charge);
  } catch (error) {
    await grant.charge(NOTHING);
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
  let decision = await budget.reserve(askFor(call, { prompt, cached }), signal);
  if ("exhausted" in decision) {
    // The budget is nearly used up: an exact count by the provider is worth a request.
    const counted = await model.countTokens?.(call.request, context);
    if (counted !== undefined && counted < prompt) {
      decision = await budget.reserve(askFor(call, { prompt: counted, cached }), signal);
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
  readonly cutBy?: Failure;
}

async function* charged(stream: ModelStream, charge: Charge): AsyncGenerator<readonly ModelEvent[]> {
  const { grant, model, estimate, price, cutBy } = charge;
  let counted: Counted | undefined;
  let words = "";
  let earlier = NOTHING;
  const spent = () => sum(earlier, spentOn(counted, { prompt: estimate, price, words }));
  try {
    for await (const batch of stream) {
      for (const event of batch) {
        if (event.type === "usage") counted = event;
        else if (event.type === "text" || event.type === "thinking") words += event.text;
        else if (event.type === "again" || event.type === "failover") {
          earlier = spent();
          counted = undefined;
          words = "";
        }
      }
      yield cutBy === undefined
        ? batch
        : batch.map((event) => (isCutOff(event) ? { type: "failure", failure: cutBy } : event));
    }
  } finally {
    if (counted !== undefined) learn(model, counted.usage, estimate);
    await grant.charge(spent());
  }
}

/** The provider's count, and its cost if the price of the model that answered is known. */
type Counted = Pick<Extract<ModelEvent, { type: "usage" }>, "usage" | "cost">;

function sum(a: Amount, b: Amount): Amount {
  return { usd: a.usd + b.usd, tokens: a.tokens + b.tokens };
}

function learn(model: Model, usage: Usage, estimate: number): void {
  const cached = usage.cache_read + usage.cache_write;
  const ratio = (usage.input + cached) / Math.max(1, estimate);
  experiences.set(model, { ratio: Math.max(0.5, ratio), cached });
}

function isCutOff(event: ModelEvent): boolean {
  return event.type === "stop" && event.reason === "length";
}

function spentOn(
  counted: Counted | undefined,
  { prompt, price, words }: { readonly prompt: number; readonly price: Price | undefined; readonly words: string },
): Amount {
  // Refused before any output: nothing is charged.
  if (counted === undefined && words === "") return NOTHING;
  const usage = counted?.usage ?? { input: prompt, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 };
  // A stream that was cut off counted its output only at the beginning.
  const output = Math.max(usage.output, counted === undefined || usage.output < 8 ? estimateTokens(words) : 0);
  const whole = { ...usage, output };
  const tokens = whole.input + whole.output + whole.cache_read + whole.cache_write;
  if (counted?.cost !== undefined && output === usage.output) return { usd: counted.cost.usd, tokens };
  return { usd: price === undefined ? 0 : costOf(whole, price).usd, tokens };
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
