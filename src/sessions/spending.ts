/** Which calls count as spending. */
import { oldShape } from "../protocol/answer-ends.js";
import type { EventPayloads } from "../protocol/events.js";

/**
 * In older logs a call that was refused before a token was counted has a cost too: it is nothing, and nothing is unknown about it.
 * Stores take events as they come: what does not look like a call is not one.
 */
export function isCounted(paid: EventPayloads["CostIncremented"]): boolean {
  const { provider, model, usage, cost } = paid;
  if (typeof provider !== "string" || typeof model !== "string" || typeof usage !== "object") return false;
  const tokens = usage.input + usage.output + usage.cache_read + usage.cache_write;
  return tokens > 0 || cost !== undefined || oldShape(paid)?.interrupted === undefined;
}
