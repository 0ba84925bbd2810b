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

  verifies(["M15"], "are one line with tokens, time and speed", () => {
    expect(formatStats({ promptTokens: 1204, replyTokens: 56, elapsedMs: 3200 })).toBe(
      "1,204 in · 56 out · 3.2 s · 17.5 tokens/s",
    );
    expect(formatStats({ promptTokens: 10, replyTokens: 5, elapsedMs: 1000, usd: 0.0123 })).toMatch(/ · \$0\.0123$/);
    expect(formatStats({ promptTokens: 0, replyTokens: 0, elapsedMs: 3200 })).toBe("3.2 s");
  });

  verifies(["M15"], "have no speed after an interruption, because the call that was cut has tokens and no time", () => {
    const usage = { input: 900, output: 55, cache_read: 0, cache_write: 0, reasoning: 0 };
    const stats = turnStats(usage, 2000, { modelMs: 30, outcome: "cancelled" });
    expect(formatStats(stats)).toBe("900 in · 55 out · 2.0 s");
  });

  verifies(["M15"], "count tools in the time and not in the speed, and split costs by model", () => {
    const usage = { input: 900, output: 100, cache_read: 0, cache_write: 0, reasoning: 0 };
    const cost = { usd: 0.02, input: 0.01, output: 0.01, cache_read: 0, cache_write: 0 };
    const shares = [
      { provider: "a", model: "large", calls: 1, usage, cost },
      { provider: "b", model: "small", calls: 1, usage },
    ];
    const stats = turnStats(usage, 10_000, { modelMs: 2000, shares });
    expect(formatStats(stats)).toBe(
      "900 in · 100 out · 10.0 s · 50.0 tokens/s (a:large $0.0200 · b:small 1,000 tokens)",
    );
  });
});
