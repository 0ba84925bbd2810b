/** Decides which calls count as spending. */
import { oldShape } from "../protocol/answer-ends.js";
import type { EventPayloads } from "../protocol/events.js";

/**
 * Older logs have a cost for a call that was refused before a token was counted. It is zero, and it is known.
 * Stores take events unchecked: an event that does not look like a call does not count.
 */
export function isCounted(paid: EventPayloads["CostIncremented"]): boolean {
  const { provider, model, usage, cost } = paid;
  if (typeof provider !== "string" || typeof model !== "string" || typeof usage !== "object") return false;
  const tokens = usage.input + usage.output + usage.cache_read + usage.cache_write;
  return tokens > 0 || cost !== undefined || oldShape(paid)?.interrupted === undefined;
}
