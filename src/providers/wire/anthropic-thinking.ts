/**
 * Describes how to request thinking from Anthropic's models, as data.
 *
 * 1. Newer models decide how much to think, guided by an effort. Older models need a budget, which must be below `max_tokens`.
 * 2. Requests to a model that cannot think contain neither.
 */
import type { Effort, ModelRequest } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";

/** Models since 4.6 refuse a budget, or will. */
const ADAPTIVE = /^claude-((opus|sonnet|haiku)-(4-[6-9]|[5-9]|\d{2})|fable-|mythos-)/;
const WITHOUT_THINKING = /^claude-(2|instant|3-(opus|sonnet|haiku|5))/;
/** Takes an effort beside the budget. */
const EFFORT_AND_BUDGET = /^claude-opus-4-5/;

const BUDGETS: Readonly<Record<Effort, number>> = { low: 2048, medium: 8192, high: 16_384 };

/** Anthropic has no default. Thinking counts as output, so models that think get room for it. */
const DEFAULT_MAX_TOKENS = 32_000;
/** Models of which nothing is known, behind the same wire. */
const CAUTIOUS_MAX_TOKENS = 8192;
/** Lists what the older models write at most; the others write 64,000 or more. */
const LEAST: readonly (readonly [RegExp, number])[] = [
  [/^claude-(2|instant|3-(opus|sonnet|haiku))/, 4096],
  [/^claude-3-5/, 8192],
  [/^claude-opus-4(-[01]|-2025|$)/, 32_000],
];
const USUAL = 64_000;

export function thinkingFields({ model, effort, maxOutputTokens }: ModelRequest): JsonObject {
  if (ADAPTIVE.test(model)) {
    const limit = { max_tokens: maxOutputTokens ?? DEFAULT_MAX_TOKENS };
    if (effort === undefined) return limit;
    return { ...limit, thinking: { type: "adaptive", display: "summarized" }, output_config: { effort } };
  }
  const thinks = effort !== undefined && !WITHOUT_THINKING.test(model);
  const budget = thinks ? BUDGETS[effort] : 0;
  const limit = maxOutputTokens ?? defaultLimit(model, budget);
  if (!thinks) return { max_tokens: limit };
  return {
    max_tokens: limit + budget,
    thinking: { type: "enabled", budget_tokens: budget },
    ...(EFFORT_AND_BUDGET.test(model) && { output_config: { effort } }),
  };
}

/** The thinking and the answer together stay within what the model writes. */
function defaultLimit(model: string, budget: number): number {
  if (!model.startsWith("claude-")) return CAUTIOUS_MAX_TOKENS;
  const most = LEAST.find(([names]) => names.test(model))?.[1] ?? USUAL;
  return Math.min(DEFAULT_MAX_TOKENS, most - budget);
}
