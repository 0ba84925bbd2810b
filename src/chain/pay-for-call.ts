/**
 * One model call within a budget (feature M14).
 *
 * 1. Held before the call: the estimated prompt at its dearest rate, and the longest answer that the budgets still allow. The request
 *    says that length, so the model cannot write more than was held for.
 * 2. Settled when the stream ends, however it ends: by the provider's count, or by an estimate of what came when it told none.
 * 3. A model without a known price is not called on a budget in dollars.
 */
import { type Amount, type Ask, type Grant, type Limiter, NOTHING, type Purse } from "../base/budget.js";
import { formatTokens, formatUsd } from "../base/budget-text.js";
import { estimateTokens } from "../base/estimate-tokens.js";
import { TurnFailure } from "../engine/cancel.js";
import type { ModelEvent, ModelRequest, ModelStream, Next, RequestContext } from "../engine/ports.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { Usage } from "../protocol/usage.js";
import { costOf, type ModelFacts, type Price, ratesFor } from "../providers/catalogue/facts.js";
import { estimateRequestTokens } from "../providers/tokens/estimate-request.js";
import type { CostKeeper } from "./services.js";

/** Shorter answers are cut off before they say anything. */
const LEAST_OUTPUT = 256;
/** The estimate may be too low by this much (docs/costs.md). */
const MARGIN = 1.2;

export interface Payment {
  readonly costs: CostKeeper;
  readonly purse: Purse;
  readonly next: Next<ModelRequest, RequestContext, ModelStream>;
}

export async function payForCall(
  request: ModelRequest,
  context: RequestContext,
  payment: Payment,
): Promise<ModelStream> {
  const { costs, purse, next } = payment;
  const { model, signal } = context;
  const facts = await costs.facts(model);
  if (facts.price === undefined && costs.countsDollars)
    throw new TurnFailure(noPrice(`${model.provider}:${model.model}`));
  const estimate = estimateRequestTokens(request, model.family);
  let prompt = Math.ceil(estimate * MARGIN);
  let decision = await purse.reserve(askFor(prompt, request, facts), signal);
  if ("exhausted" in decision) {
    // It is close: a provider that counts exactly is worth a question.
    const counted = await model.countTokens?.(request, context);
    if (counted !== undefined && counted < prompt) {
      prompt = counted;
      decision = await purse.reserve(askFor(prompt, request, facts), signal);
    }
  }
  if ("exhausted" in decision) {
    const { unit, spent, needed } = decision.exhausted;
    const detail = `${shown(unit, spent)} of it is spent and the next model call takes ${shown(unit, needed)} or more`;
    throw new TurnFailure(reached(decision.exhausted, detail, costs));
  }
  const { grant } = decision;
  const { limitedBy, output } = grant;
  const mustSay = limitedBy !== undefined || facts.assumed;
  const cutBy = limitedBy && reached(limitedBy, "the answer took all that was left of it", costs);
  try {
    const stream = await next(mustSay ? { ...request, maxOutputTokens: output } : request);
    return settled(stream, { grant, prompt: estimate, price: facts.price, ...(cutBy !== undefined && { cutBy }) });
  } catch (error) {
    await grant.settle(NOTHING);
    throw error;
  }
}

function askFor(prompt: number, request: ModelRequest, facts: ModelFacts): Ask {
  const rates = ratesFor(facts.price ?? { input: 0, output: 0 }, prompt);
  const dearest = Math.max(rates.input, rates.cache_write ?? 0);
  const most = longestAnswer(request, facts);
  return {
    fixed: { usd: (prompt * dearest) / 1e6, tokens: prompt },
    each: { usd: rates.output / 1e6, tokens: 1 },
    least: Math.min(LEAST_OUTPUT, most),
    most,
  };
}

function longestAnswer(request: ModelRequest, facts: ModelFacts): number {
  return Math.min(request.maxOutputTokens ?? facts.output, facts.output);
}

interface Settlement {
  readonly grant: Grant;
  /** Estimated tokens of the prompt. */
  readonly prompt: number;
  readonly price: Price | undefined;
  /** What to say when the answer fills all that the budget had left. */
  readonly cutBy?: Failure;
}

async function* settled(stream: ModelStream, settlement: Settlement): AsyncGenerator<readonly ModelEvent[]> {
  const { grant, prompt, price, cutBy } = settlement;
  let usage: Usage | undefined;
  let words = "";
  try {
    for await (const batch of stream) {
      for (const event of batch) {
        if (event.type === "usage") usage = event.usage;
        else if (event.type === "text" || event.type === "thinking") words += event.text;
      }
      yield cutBy === undefined
        ? batch
        : batch.map((event) => (isCutOff(event) ? { type: "failure", failure: cutBy } : event));
    }
  } finally {
    await grant.settle(spentOn(usage, { prompt, price, words }));
  }
}

function isCutOff(event: ModelEvent): boolean {
  return event.type === "stop" && event.reason === "length";
}

function spentOn(
  usage: Usage | undefined,
  { prompt, price, words }: { readonly prompt: number; readonly price: Price | undefined; readonly words: string },
): Amount {
  // Refused before a word was said: nothing is charged.
  if (usage === undefined && words === "") return NOTHING;
  const told = usage ?? { input: prompt, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 };
  // A stream that was cut off told its output only at the beginning.
  const output = Math.max(told.output, usage === undefined || told.output < 8 ? estimateTokens(words) : 0);
  const whole = { ...told, output };
  const tokens = whole.input + whole.output + whole.cache_read + whole.cache_write;
  return { usd: price === undefined ? 0 : costOf(whole, price).usd, tokens };
}

function reached({ scope, unit, limit }: Limiter, detail: string, costs: CostKeeper): Failure {
  return failure("BudgetReached", { scope, limit: shown(unit, limit), detail, how: costs.adviceFor(scope) });
}

function shown(unit: keyof Amount, value: number): string {
  return unit === "usd" ? formatUsd(value) : formatTokens(value);
}

function noPrice(model: string): Failure {
  const detail = `The price of ${model} is not known, so a budget in dollars cannot be kept. Give it in the profile ([models."${model}"] price_input, price_output), or set the budget in tokens.`;
  return failure("ConfigurationInvalid", { detail });
}
