/** Formats values of calls and events for the screen. */
import type { JsonObject, JsonValue } from "../../../protocol/json.js";

const MAX_CHARACTERS = 20_000;
const ONE_LINE = 80;

/** One name and value per line; texts of several lines stay unchanged. */
export function describeArguments(args: JsonObject): string {
  const lines = Object.entries(args).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const text = typeof value === "string" ? value : jsonText(value);
    return [text.includes("\n") ? `${name}:\n${text.replaceAll(/^/gm, "  ")}` : `${name}: ${text}`];
  });
  return lines.join("\n") || "(no arguments)";
}

export function jsonText(value: JsonValue): string {
  const compact = JSON.stringify(value);
  const text = compact.length > ONE_LINE ? JSON.stringify(value, null, 2) : compact;
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
