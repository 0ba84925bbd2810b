/**
 * Describes what Anthropic offers beyond the plain Messages API, by model, as data. A merely compatible server refuses a whole request
 * because of an unknown field or header, so only Anthropic's own service gets them.
 */
import type { JsonObject } from "../../protocol/json.js";
import { asObject } from "./fields.js";

interface Feature {
  readonly models: RegExp;
  /** Named in `anthropic-beta`. */
  readonly beta?: string;
}

/** Thinking between tool calls. Newer models do it by themselves. */
const INTERLEAVED_THINKING: Feature = {
  models: /^claude-((opus|sonnet|haiku)-4(?!-[6-9])|sonnet-4-6)/,
  beta: "interleaved-thinking-2025-05-14",
};

/** Arguments as the model writes them, not buffered until they are complete. If the answer is cut off, they are not valid JSON. */
const FINE_GRAINED_TOOLS: Feature = { models: /^claude-(?!2|instant|3-(opus|sonnet|haiku))/ };

export interface AnthropicFeatures {
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of every tool. */
  readonly tool: JsonObject;
}

export function anthropicFeatures(
  model: string,
  { baseUrl, extra, tools }: { readonly baseUrl: string; readonly extra: JsonObject; readonly tools: number },
): AnthropicFeatures {
  if (!isAnthropic(baseUrl) || tools === 0) return { headers: {}, tool: {} };
  const thinks = asObject(extra.thinking).type === "enabled";
  const betas = thinks && INTERLEAVED_THINKING.models.test(model) ? [INTERLEAVED_THINKING.beta] : [];
  return {
    headers: betas.length === 0 ? {} : { "anthropic-beta": betas.join(",") },
    tool: FINE_GRAINED_TOOLS.models.test(model) ? { eager_input_streaming: true } : {},
  };
}

function isAnthropic(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /(^|\.)(anthropic|claude)\.com$/.test(new URL(baseUrl).hostname);
}
