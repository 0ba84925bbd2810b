/** Times, amounts and places in few words. */
import { formatUsd } from "../../../base/budget-text.js";

/** `3 s`, `1 min 20 s`; empty below half a second. */
export function timeText(ms: number): string {
  if (ms < 500) return "";
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${Math.max(1, seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `5 min`, `3 h`, `2 d`: how long ago it was. */
export function ageText(at: string, now: number): string {
  const minutes = Math.max(0, Math.round((now - Date.parse(at)) / 60_000));
  if (!Number.isFinite(minutes) || minutes === 0) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h`;
  return `${Math.round(minutes / 60 / 24)} d`;
}

export function costText(usd: number, known = true): string {
  if (usd === 0) return "";
  const sum = formatUsd(usd);
  return known || sum.startsWith("<") ? sum : `≥ ${sum}`;
}

/** The last name of a path. */
export function folderName(path: string): string {
  return path.split("/").findLast((name) => name !== "") ?? path;
}

/** `~` where a home folder can be guessed. */
export function shortPath(path: string): string {
  return path.replace(/^\/(?:home|Users)\/[^/]+/, "~");
}
