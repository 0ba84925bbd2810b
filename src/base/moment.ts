/** A time as people give it to a command: `7d`, `12h`, `today`, `2026-01-31`. */
import { parseDuration } from "./duration.js";

const DAY_MS = 86_400_000;

/** Milliseconds since the epoch; undefined when it cannot be read. Days begin at midnight here. */
export function parseMoment(text: string, now: number): number | undefined {
  if (text === "today") return midnight(now);
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days !== undefined) return midnight(now - Number(days) * DAY_MS);
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00`).getTime() : Number.NaN;
  if (!Number.isNaN(date)) return date;
  const duration = parseDuration(text);
  return duration !== undefined && duration > 0 ? now - duration : undefined;
}

export function midnight(wall: number): number {
  const day = new Date(wall);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
}
