/**
 * The cost of an answer that was cancelled or failed halfway. Providers charge for what they have written
 * by then, and most report the count only at the end of the answer.
 */
import { estimateTokens } from "../base/estimate-tokens.js";
import type { CutOffAnswer } from "../engine/ports.js";
import { type Cost, NO_USAGE, type Usage } from "../protocol/usage.js";
import { costOf } from "../providers/catalogue/facts.js";
import { estimateRequestTokens } from "../providers/tokens/estimate-request.js";
import type { CostTracker } from "./services.js";

export async function countCutOff(
  { request, by, usage, words }: CutOffAnswer,
  costs: Pick<CostTracker, "facts">,
): Promise<{ readonly usage: Usage; readonly cost?: Cost }> {
  const input = usage === NO_USAGE && request !== undefined ? estimateRequestTokens(request, by.family) : usage.input;
  const whole = { ...usage, input, output: Math.max(usage.output, estimateTokens(words)) };
  const { price } = await costs.facts(by);
  return price === undefined ? { usage: whole } : { usage: whole, cost: costOf(whole, price) };
}
