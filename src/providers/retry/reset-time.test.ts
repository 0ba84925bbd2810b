import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { JsonValue } from "../../protocol/json.js";
import { readResetTime } from "./reset-time.js";

const NOW = Date.UTC(2026, 10, 15, 12, 0, 0);
const at = (seconds: number) => new Date(NOW + seconds * 1000);
const read = (headers: Record<string, string>, error?: JsonValue, message = "") =>
  readResetTime({ headers, error, message }, NOW);

describe("when a provider may be asked again", () => {
  verifies(["M9"], "by the standard header: seconds, a date, milliseconds", () => {
    expect(read({ "retry-after": "12" })).toBe(12_000);
    expect(read({ "retry-after": "0.5" })).toBe(500);
    expect(read({ "retry-after": at(30).toUTCString() })).toBe(30_000);
    expect(read({ "retry-after": at(-30).toUTCString() })).toBe(0);
    expect(read({ "retry-after-ms": "1500", "retry-after": "9" })).toBe(1500);
    expect(read({ "retry-after": "soon" })).toBeUndefined();
    expect(read({ "retry-after": "-5" })).toBeUndefined();
    expect(read({})).toBeUndefined();
  });

  verifies(["M9"], "a date is measured by the server's clock, which may be wrong by hours", () => {
    const hour = 3600;
    expect(read({ date: at(hour).toUTCString(), "retry-after": at(hour + 20).toUTCString() })).toBe(20_000);
  });

  verifies(["M9"], "by the windows of each provider, the last one that is used up", () => {
    expect(
      read({
        "anthropic-ratelimit-requests-remaining": "3",
        "anthropic-ratelimit-requests-reset": at(500).toISOString(),
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": at(7).toISOString(),
        "anthropic-ratelimit-output-tokens-remaining": "0",
        "anthropic-ratelimit-output-tokens-reset": at(9).toISOString(),
      }),
    ).toBe(9000);
    expect(read({ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s" })).toBe(360_000);
    expect(read({ "x-ratelimit-reset-requests": "12ms" })).toBe(12);
    expect(read({ "x-ratelimit-reset": String((NOW + 4000) / 1000) })).toBe(4000);
    expect(read({ "x-ratelimit-reset": String(NOW + 4000) })).toBe(4000);
    expect(read({ "ratelimit-reset": "50" })).toBe(50_000);
    expect(read({ "x-ratelimit-reset": "never" })).toBeUndefined();
  });

  verifies(["M9"], "in the error itself: Google's delay, the headers that a router repeats, words", () => {
    const google = { error: { details: [{ "@type": "x" }, { retryDelay: "34.07s" }] } };
    expect(read({}, google)).toBe(34_070);
    const headers = { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(NOW + 60_000) };
    expect(read({}, { error: { metadata: { headers } } })).toBe(60_000);
    expect(read({}, undefined, "Rate limit reached. Please try again in 1.2s. Visit …")).toBe(1200);
    expect(read({}, undefined, "try again in 6m0s")).toBe(360_000);
    expect(read({}, undefined, "Please retry in 20 seconds.")).toBe(20_000);
    expect(read({}, undefined, "try again in a while")).toBeUndefined();
  });
});
