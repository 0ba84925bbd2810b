/** `sanitize_terminal`: text as a person gets to see it. */

import { safeText } from "../../base/terminal-text.js";
import type { JsonObject } from "../../protocol/json.js";

export function handleSanitizeTerminal({ text }: JsonObject): JsonObject {
  return { text: safeText(String(text ?? "")) };
}
