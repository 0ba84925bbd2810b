import type { JsonObject } from "../../protocol/json.js";
import { isInside } from "../../tools/files/containment.js";

export function pathInside({ path, allowed }: JsonObject): JsonObject {
  return { inside: Array.isArray(allowed) && isInside(path, allowed) };
}
