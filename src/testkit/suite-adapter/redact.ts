/** `redact`: text as stored and as sent to a model. */

import type { JsonObject } from "../../protocol/json.js";
import { redact } from "../../security/redact/redact.js";

export function handleRedact({ text }: JsonObject): JsonObject {
  return { text: redact(String(text ?? "")) };
}
