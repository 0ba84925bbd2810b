/**
 * Places the cache marks for Anthropic. The service reads a request as tools, system, messages, and reuses the cached prefix up to
 * a mark.
 *
 * 1. At most four marks: the tools, the system text, and the ends of the last two of the user's messages. The older of those
 *    two was the newest in the call before, so each call finds what the last one wrote.
 * 2. A mark changes nothing before it. The cache lives five minutes: an hour costs more.
 */
import type { JsonObject } from "../../protocol/json.js";
import { asList, asObject } from "./fields.js";

const MARK = { cache_control: { type: "ephemeral" } } as const;
const MARKED_MESSAGES = 2;

export function withMarkAtEnd(blocks: readonly JsonObject[]): readonly JsonObject[] {
  return blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, ...MARK } : block));
}

export function withMarkedMessages(messages: readonly JsonObject[]): readonly JsonObject[] {
  const users = messages.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  const marked = new Set(users.slice(-MARKED_MESSAGES));
  return messages.map((message, index) =>
    marked.has(index) ? { ...message, content: withMarkAtEnd(asList(message.content).map(asObject)) } : message,
  );
}
