/** A tool call in few words. */
import type { EventPayloads } from "../protocol/events.js";
import type { JsonObject } from "../protocol/json.js";
import { shorten } from "./cap-text.js";

export const RESULT_MARKS: Readonly<Record<EventPayloads["ToolResult"]["status"], string>> = {
  ok: "✓",
  error: "✗",
  denied: "⊘",
  cancelled: "✗",
  timeout: "✗",
  skipped: "–",
};

const MAX_WORDS = 400;
const MAX_LINE = 200;
/** Arguments whose values speak for themselves. */
const OBVIOUS: ReadonlySet<string> = new Set(["command", "path", "pattern"]);

/** All arguments, with their line breaks. */
export function argumentWords(args: JsonObject): string {
  const entries = Object.entries(args).filter(([, value]) => value !== undefined);
  let words = "";
  for (const [name, value] of entries) {
    const shown = (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, MAX_WORDS);
    const isObvious = entries.length === 1 || OBVIOUS.has(name);
    words += `${words === "" ? "" : " "}${isObvious ? shown : `${name}=${shown}`}`;
    if (words.length > MAX_WORDS) break;
  }
  return words;
}

export function argumentLine(args: JsonObject): string {
  return shorten(argumentWords(args).replaceAll("\n", "⏎"), MAX_LINE);
}
