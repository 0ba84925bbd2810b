/**
 * Decides when a provider allows the next request. There is a standard header, and nearly every provider has its own form as well.
 *
 * 1. Headers for retries count before headers that give the end of a window; of several windows, the last exhausted one counts.
 * 2. A point in time is compared with the server's own clock if it sends one, because ours may differ.
 * 3. Values that cannot be parsed are ignored; Oxbow then chooses the wait.
 */
import { parseDuration } from "../../base/duration.js";
import { isJsonObject, type JsonValue } from "../../protocol/json.js";

export interface Complaint {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The error body. */
  readonly error: JsonValue | undefined;
  readonly message: string;
}

/** Milliseconds from now. */
export function readResetTime({ headers, error, message }: Complaint, now?: number): number | undefined {
  const at = serverTime(headers) ?? now;
  return (
    retryAfter(headers, at) ??
    retryInfo(error) ??
    spentWindow(headers, at) ??
    spentWindow(repeatedHeaders(error), at) ??
    inWords(message)
  );
}

function serverTime(headers: Complaint["headers"]): number | undefined {
  const time = Date.parse(headers.date ?? "");
  return Number.isFinite(time) ? time : undefined;
}

function retryAfter(headers: Complaint["headers"], now: number | undefined): number | undefined {
  const ms = headers["retry-after-ms"];
  if (ms !== undefined && /^\d+(\.\d+)?$/.test(ms.trim())) return Math.round(Number(ms));
  const text = headers["retry-after"]?.trim();
  if (text === undefined || text === "") return undefined;
  return parsed(text) ?? until(dateOf(text), now);
}

/** Google names the time in the error itself, as `"34.07s"`. */
function retryInfo(error: JsonValue | undefined): number | undefined {
  const inner = isJsonObject(error) && isJsonObject(error.error) ? error.error : error;
  const details = isJsonObject(inner) && Array.isArray(inner.details) ? inner.details : [];
  for (const detail of details) {
    if (!isJsonObject(detail) || typeof detail.retryDelay !== "string") continue;
    const ms = parsed(detail.retryDelay);
    if (ms !== undefined) return ms;
  }
  return undefined;
}

/** A router repeats the headers of the provider behind it in its error. */
function repeatedHeaders(error: JsonValue | undefined): Complaint["headers"] {
  const inner = isJsonObject(error) && isJsonObject(error.error) ? error.error : undefined;
  const metadata = isJsonObject(inner?.metadata) ? inner.metadata : undefined;
  if (!isJsonObject(metadata?.headers)) return {};
  const entries = Object.entries(metadata.headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return Object.fromEntries(entries);
}

/**
 * `anthropic-ratelimit-tokens-reset` (a date), `x-ratelimit-reset-tokens` (`6m0s`), `x-ratelimit-reset` (an epoch in seconds or
 * milliseconds, or seconds from now), `ratelimit-reset` (seconds).
 */
function spentWindow(headers: Complaint["headers"], now: number | undefined): number | undefined {
  let latest: number | undefined;
  for (const [name, value] of Object.entries(headers)) {
    if (!/ratelimit/.test(name) || !/(^|-)reset(-|$)/.test(name)) continue;
    const remaining = headers[name.replace("reset", "remaining")];
    if (remaining !== undefined && Number(remaining) > 0) continue;
    const ms = resetValue(value.trim(), now);
    if (ms !== undefined && (latest === undefined || ms > latest)) latest = ms;
  }
  return latest;
}

const EPOCH_SECONDS = 1e9;
const EPOCH_MILLISECONDS = 1e12;

function resetValue(text: string, now: number | undefined): number | undefined {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  if (number === undefined) return parsed(text) ?? until(dateOf(text), now);
  if (number >= EPOCH_MILLISECONDS) return until(number, now);
  return number >= EPOCH_SECONDS ? until(number * 1000, now) : Math.ceil(number * 1000);
}

/** `Please try again in 1.2s.` */
function inWords(message: string): number | undefined {
  const found = /(?:try again|retry)(?: after| in) ((?:\d+(?:\.\d+)?\s*(?:ms|s|m|h)(?:[a-z]*)\s*)+)/i.exec(
    message,
  )?.[1];
  if (found === undefined) return undefined;
  return parsed(found.replace(/\s+/g, "").replace(/(\d)(ms|s|m|h)[a-z]*/gi, "$1$2"));
}

function parsed(duration: string): number | undefined {
  const ms = parseDuration(duration);
  return ms === undefined ? undefined : Math.ceil(ms);
}

/** Text without a letter is not a date, although JavaScript would parse it. */
function dateOf(text: string): number {
  return /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
}

function until(time: number, now: number | undefined): number | undefined {
  if (now === undefined || !Number.isFinite(time)) return undefined;
  return Math.max(0, Math.ceil(time - now));
}
