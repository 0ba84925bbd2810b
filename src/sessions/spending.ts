/** Which calls count as spending. */
import type { EventPayloads } from "../protocol/events.js";

/**
 * A call that was refused before a token was counted costs nothing, and nothing is unknown about it. Stores take events as they come:
 * what does not look like a call is not one.
 */
export function isCounted({ provider, model, usage, answer, cost }: EventPayloads["CostIncremented"]): boolean {
  if (typeof provider !== "string" || typeof model !== "string" || typeof usage !== "object") return false;
  const tokens = usage.input + usage.output + usage.cache_read + usage.cache_write;
  return tokens > 0 || cost !== undefined || answer?.interrupted === undefined;
}
