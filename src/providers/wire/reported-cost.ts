/** The cost of a call as OpenRouter reports it, in US dollars: more accurate than a price list. */
import type { JsonObject } from "../../protocol/json.js";
import { type Cost, roundUsd, type Usage } from "../../protocol/usage.js";
import { asNumber, asObject } from "./fields.js";

/** Other services use their own units. */
export function reportsCost({ family, url }: { readonly family: string; readonly url: string }): boolean {
  return /^openrouter\b/.test(family) || /^https:\/\/openrouter\.ai\//.test(url);
}

/** `counts` is the answer's `usage`. Undefined if it has no cost. */
export function reportedCost(counts: JsonObject, usage: Usage): Cost | undefined {
  const charged = asNumber(counts.cost);
  if (charged === undefined || charged < 0) return undefined;
  const details = asObject(counts.cost_details);
  // With the user's own key, the provider's charge adds to OpenRouter's fee.
  const upstream = counts.is_byok === true ? (asNumber(details.upstream_inference_cost) ?? 0) : 0;
  const usd = roundUsd(charged + upstream);
  const output = roundUsd(usd * outputShare(details, usage));
  return { usd, input: roundUsd(usd - output), output, cache_read: 0, cache_write: 0 };
}

function outputShare(details: JsonObject, { input, output, cache_read, cache_write }: Usage): number {
  const prompt = asNumber(details.upstream_inference_prompt_cost) ?? 0;
  const completion = asNumber(details.upstream_inference_completions_cost) ?? 0;
  if (prompt + completion > 0) return completion / (prompt + completion);
  const tokens = input + output + cache_read + cache_write;
  return tokens === 0 ? 0 : output / tokens;
}
