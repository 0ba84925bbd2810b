import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { formatStats, StatsWindow, timerLabel, turnStats } from "./turn-stats.js";

describe("turn stats", () => {
  verifies(["M15"], "estimate the next turn from the last five with token counts", () => {
    const window = new StatsWindow();
    expect(window.estimateMs()).toBeUndefined();
    window.record({ promptTokens: 0, replyTokens: 0, elapsedMs: 90_000 });
    expect(window.estimateMs()).toBeUndefined();
    for (const seconds of [100, 2, 4, 6, 8, 10]) {
      window.record({ promptTokens: 10, replyTokens: 100, elapsedMs: seconds * 1000 });
    }
    expect(window.estimateMs()).toBeCloseTo(6000);
  });

  verifies(["M15"], "show elapsed and estimate, and drop the estimate once it was wrong", () => {
    expect(timerLabel(8200, undefined)).toBe("[8s]");
    expect(timerLabel(8200, 12_000)).toBe("[8s / ~12s]");
    expect(timerLabel(13_000, 12_000)).toBe("[13s]");
  });

  verifies(["M15"], "are one line with tokens, the part from the cache, time and price", () => {
    expect(formatStats({ promptTokens: 1204, replyTokens: 56, elapsedMs: 3200 })).toBe("1,204 in · 56 out · 3.2 s");
    const usage = { input: 100, output: 5, cache_read: 800, cache_write: 100, reasoning: 0 };
    expect(formatStats(turnStats(usage, 1000, { cost: { usd: 0.0123 } }))).toBe(
      "1,000 in (80% cached) · 5 out · 1.0 s · $0.0123",
    );
    expect(formatStats({ promptTokens: 1000, cachedTokens: 1, replyTokens: 5, elapsedMs: 1000 })).not.toContain(
      "cached",
    );
    expect(formatStats({ promptTokens: 0, replyTokens: 0, elapsedMs: 3200 })).toBe("3.2 s");
  });

  verifies(["M15"], "split costs by model", () => {
    const usage = { input: 900, output: 100, cache_read: 0, cache_write: 0, reasoning: 0 };
    const cost = { usd: 0.02, input: 0.01, output: 0.01, cache_read: 0, cache_write: 0 };
    const shares = [
      { provider: "a", model: "large", calls: 1, usage, cost },
      { provider: "b", model: "small", calls: 1, usage },
    ];
    expect(formatStats(turnStats(usage, 10_000, { shares }))).toBe(
      "900 in · 100 out · 10.0 s (a:large $0.0200 · b:small 1,000 tokens)",
    );
  });
});
