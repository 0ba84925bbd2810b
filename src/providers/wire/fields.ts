/** Reads JSON from outside: a field that is missing or has another type counts as absent. */
import { parseShallow } from "../../base/json-nesting.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function asList(value: unknown): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined if the text is not JSON or is nested too deep. Every wire parses its frames and arguments with this. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return parseShallow(text);
  } catch {
    return undefined;
  }
}
