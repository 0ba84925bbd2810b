/** Reads fields of other people's JSON, where any of them may be missing or of another type. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";

type Field = JsonValue | undefined;

export function asObject(value: Field): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function asString(value: Field): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function asArray(value: Field): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** A number of tokens; 0 for anything else. */
export function asCount(value: Field): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** RFC 3339, UTC, milliseconds, as events have it. */
export function asTime(value: Field): string | undefined {
  if (typeof value !== "string") return undefined;
  const ms = Date.parse(value);
  if (Number.isNaN(ms) || ms < 0) return undefined;
  const time = new Date(ms).toISOString();
  // Years past 9999 are written in another form.
  return time.length === 24 ? time : undefined;
}

/** One line by which the user recognises the session. */
export function titleOf(text: string): string | undefined {
  const line = text.trim().split("\n", 1)[0]?.replace(/\s+/g, " ").trim() ?? "";
  if (line === "") return undefined;
  return line.length <= 80 ? line : `${line.slice(0, 79).replace(/[\ud800-\udbff]$/, "")}…`;
}
