import type { JsonValue } from "../../src/protocol/json.js";

/** A request without the marks that tell Anthropic what to cache: they move with the conversation and change nothing in it. */
export function withoutCacheHints<T extends JsonValue>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => withoutCacheHints(item as JsonValue)) as unknown as T;
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => key !== "cache_control");
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutCacheHints(item as JsonValue)])) as T;
}
