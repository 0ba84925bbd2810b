import { StoreError } from "../store.js";

/** Times are stored as milliseconds; a text that would not come back the same is refused. */
export function toMilliseconds(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== text) {
    throw new StoreError(
      "invalid",
      `'${text}' is not a time in UTC with milliseconds, as 2026-01-31T12:00:00.000Z is.`,
    );
  }
  return ms;
}

export function toTimestamp(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime()))
    throw new StoreError("damaged", "The session database is damaged: a time is wrong.");
  return date.toISOString();
}
