import type { CommandReply } from "../protocol/client.js";
import { isJsonObject } from "../protocol/json.js";

/** Tells what the engine says about an input that it accepted, such as a route that does not exist. */
export function hintOf(reply: CommandReply): string | undefined {
  const hint = reply.ok && isJsonObject(reply.value) ? reply.value.hint : undefined;
  return typeof hint === "string" ? hint : undefined;
}
