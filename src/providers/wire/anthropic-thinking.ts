/**
 * How to request thinking from Anthropic's models, as data.
 *
 * 1. Newer ones decide themselves how much, led by an effort. Older ones want a budget, which is part of `max_tokens` and less than it.
 * 2. A model that cannot think is not asked to.
 */
import type { Effort, ModelRequest } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";

/** Since 4.6; they refuse a budget or are about to. */
const ADAPTIVE = /^claude-((opus|sonnet|haiku)-(4-[6-9]|[5-9]|\d{2})|fable-|mythos-)/;
const WITHOUT_THINKING = /^claude-(2|instant|3-(opus|sonnet|haiku|5))/;
/** Takes an effort beside the budget. */
const EFFORT_AND_BUDGET = /^claude-opus-4-5/;

const BUDGETS: Readonly<Record<Effort, number>> = { low: 2048, medium: 8192, high: 16_384 };

/** Anthropic has no default. What is thought counts as well, so models that think get room for it. */
const DEFAULT_MAX_TOKENS = 8192;
const DEFAULT_MAX_TOKENS_THINKING = 32_000;

export function thinkingFields({ model, effort, maxOutputTokens }: ModelRequest): JsonObject {
  if (ADAPTIVE.test(model)) {
    const limit = { max_tokens: maxOutputTokens ?? DEFAULT_MAX_TOKENS_THINKING };
    if (effort === undefined) return limit;
    return { ...limit, thinking: { type: "adaptive", display: "summarized" }, output_config: { effort } };
  }
  const limit = maxOutputTokens ?? DEFAULT_MAX_TOKENS;
  if (effort === undefined || WITHOUT_THINKING.test(model)) return { max_tokens: limit };
  const budget = BUDGETS[effort];
  return {
    max_tokens: limit + budget,
    thinking: { type: "enabled", budget_tokens: budget },
    ...(EFFORT_AND_BUDGET.test(model) && { output_config: { effort } }),
  };
}
