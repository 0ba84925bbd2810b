/** Formats the times of a log. */
import { formatDuration } from "../../../base/duration.js";

const formats = new Map<string, Intl.DateTimeFormat>();

/** `2026-01-31 14:05:09`, in the given time zone or the machine's. */
export function timeText(ms: number, timeZone: string | undefined): string {
  if (!Number.isFinite(ms)) return "unknown time";
  return formatFor(timeZone).format(ms).replace(",", "");
}

function formatFor(timeZone: string | undefined): Intl.DateTimeFormat {
  const key = timeZone ?? "";
  const known = formats.get(key);
  if (known !== undefined) return known;
  // Swedish writes dates as ISO 8601 does.
  const made = new Intl.DateTimeFormat("sv-SE", {
    dateStyle: "short",
    timeStyle: "medium",
    ...(timeZone !== undefined && { timeZone }),
  });
  formats.set(key, made);
  return made;
}

/** `+1m30s`, `+250ms`; negative if the clock was set back. */
export function gapText(ms: number): string {
  if (!Number.isFinite(ms)) return "";
  return ms < 0 ? `-${formatDuration(-ms)}` : `+${formatDuration(ms)}`;
}
