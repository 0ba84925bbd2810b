import { StoreError } from "./store.js";

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

/** The same for times that follow each other closely: only the part after the second is rebuilt. */
export function createTimestamps(): (ms: number) => string {
  let second = Number.NaN;
  let beginning = "";
  return (ms) => {
    const fraction = ((ms % 1000) + 1000) % 1000;
    if (ms - fraction !== second) {
      beginning = toTimestamp(ms).slice(0, -"000Z".length);
      second = ms - fraction;
    }
    return `${beginning}${String(fraction).padStart(3, "0")}Z`;
  };
}
