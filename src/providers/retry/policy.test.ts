import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { type BuiltInReason, type Failure, failure } from "../../protocol/errors.js";
import { mayFailOver, nextWait, whileWaiting } from "./policy.js";

const problem = (reason: BuiltInReason, traits: Partial<Failure> = { retryable: true }): Failure => ({
  ...failure(reason, { name: "acme" }),
  ...traits,
});
const first = { failed: 1, alike: 1, waitedMs: 0, begun: false };
const limits = { totalWaitMs: 300_000, random: () => 1 };

describe("what is done about a failed call", () => {
  verifies(["M9"], "a temporary failure is retried, each time later, and not forever", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7].map((n) =>
      nextWait(problem("Overloaded"), { ...first, failed: n, alike: n }, limits),
    );
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, undefined]);
    for (const reason of ["RateLimited", "ProviderFailed", "NetworkFailed", "StreamInterrupted"] as const) {
      expect(nextWait(problem(reason), first, limits), reason).toBeGreaterThan(0);
    }
    expect(nextWait(problem("Overloaded"), { ...first, failed: 11 }, limits)).toBeUndefined();
  });

  verifies(["M9"], "no two wait equally long, and none much shorter than it should", () => {
    const waits = [0, 0.25, 0.999].map((value) =>
      nextWait(problem("Overloaded"), first, { ...limits, random: () => value }),
    );
    expect(waits).toEqual([500, 625, 999.5]);
  });

  verifies(["M9"], "a wrong key, an empty account, a refusal and a bad request are final", () => {
    for (const reason of ["AuthFailed", "QuotaExceeded", "ContentRefused", "ContextTooLong", "BadRequest"] as const) {
      expect(nextWait(problem(reason, {}), first, limits), reason).toBeUndefined();
    }
    expect(nextWait(problem("NetworkFailed", { retryable: false }), first, limits)).toBeUndefined();
    expect(nextWait(problem("Overloaded", { retryable: true, attempts: 3 }), first, limits)).toBeUndefined();
  });

  verifies(["M9"], "a damaged answer is retried once, and only if a model had begun its answer", () => {
    const garbled = problem("MalformedResponse", {});
    expect(nextWait(garbled, first, limits)).toBeUndefined();
    expect(nextWait(garbled, { ...first, begun: true }, limits)).toBe(250);
    expect(nextWait(garbled, { ...first, begun: true, failed: 2, alike: 2 }, limits)).toBeUndefined();
  });

  verifies(["M9"], "the time that a provider names is kept to; one that is too long is not waited for at all", () => {
    const asked = (retry_after_ms: number) => problem("RateLimited", { retryable: true, retry_after_ms });
    expect(nextWait(asked(12_000), first, { ...limits, random: () => 0 })).toBe(12_000);
    expect(nextWait(asked(0), first, { ...limits, random: () => 0 })).toBe(0);
    expect(nextWait(asked(3_600_000), first, limits)).toBeUndefined();
    expect(nextWait(asked(12_000), { ...first, waitedMs: 290_000 }, limits)).toBeUndefined();
    expect(nextWait(problem("Overloaded"), first, { ...limits, totalWaitMs: 0 })).toBeUndefined();
  });

  verifies(["M9", "O5"], "while it is waited, the text says for how long", () => {
    const textOf = (reason: BuiltInReason, waitMs: number) =>
      whileWaiting(problem(reason), { name: "acme", waitMs }).message;
    expect(textOf("RateLimited", 12_200)).toBe(
      "Provider acme rate-limited the request. Retrying in 12s… (Ctrl-C to cancel, /model to switch).",
    );
    expect(textOf("Overloaded", 1900)).toBe("acme is overloaded. Retrying in 2 s…");
    expect(textOf("StreamInterrupted", 200)).toContain("closed the connection");
  });

  verifies(["M8"], "another model is asked unless the conversation itself is to blame", () => {
    expect(["Overloaded", "QuotaExceeded", "AuthFailed", "NetworkFailed", "ModelNotFound"].map(asked)).not.toContain(
      false,
    );
    expect(["BadRequest", "ContextTooLong", "ContentRefused"].map(asked)).not.toContain(true);
  });
});

function asked(reason: string): boolean {
  return mayFailOver(problem(reason as BuiltInReason));
}
