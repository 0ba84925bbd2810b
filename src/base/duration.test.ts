import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { formatDuration, parseDuration } from "./duration.js";

describe("durations", () => {
  verifies(["M10"], "are read as people write them", () => {
    const cases: readonly (readonly [string, number | undefined])[] = [
      ["5m", 300_000],
      ["300s", 300_000],
      ["1m30s", 90_000],
      ["300", 300_000],
      ["0.5", 500],
      ["250ms", 250],
      ["1h2m3s", 3_723_000],
      [" 2s ", 2000],
      ["", undefined],
      ["5 minutes", undefined],
      ["-5s", undefined],
      ["m5", undefined],
      ["1e3", undefined],
    ];
    for (const [text, ms] of cases) expect(parseDuration(text), text).toBe(ms);
  });

  verifies(["M10"], "are written so that they can be read back", () => {
    for (const ms of [250, 1000, 90_000, 300_000, 3_723_000]) expect(parseDuration(formatDuration(ms))).toBe(ms);
  });
});
