/** `redact`: text as it is stored and shown to a model. */

import type { JsonObject } from "../../protocol/json.js";
import { redact } from "../../security/redact/redact.js";

export function handleRedact({ text }: JsonObject): JsonObject {
  return { text: redact(String(text ?? "")) };
}
