/**
 * The complete part of a cut-off JSON text, as the vendors' SDKs show it. Only for comparisons with them: the loop never runs
 * arguments that were cut off.
 */
import type { JsonValue } from "../../protocol/json.js";

export function readableJson(text: string): JsonValue | undefined {
  for (let end = text.length; end > 0; end--) {
    const kept = text.slice(0, end).replace(/[\s,]+$/, "");
    const closers = closing(kept);
    if (closers === undefined) continue;
    try {
      return JSON.parse(kept + closers) as JsonValue;
    } catch {
      // It ends in the middle of a value: look further back.
    }
  }
  return undefined;
}

/** Tells what closes the brackets that are open at the end; undefined inside a string. */
function closing(text: string): string | undefined {
  let open = "";
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (quoted && character === "\\") i++;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === "{") open = `}${open}`;
    else if (character === "[") open = `]${open}`;
    else if (character === "}" || character === "]") open = open.slice(1);
  }
  return quoted ? undefined : open;
}
