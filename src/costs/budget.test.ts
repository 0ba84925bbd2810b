import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { formatBudget, formatUsd, parseBudget } from "../base/budget-text.js";
import { type Amount, type Ask, Budget, type BudgetLimit, type Grant, NOTHING } from "./budget.js";

const ask = (fixed: number, least: number, most: number): Ask => ({
  fixed: { usd: fixed, tokens: fixed },
  each: { usd: 1, tokens: 1 },
  least,
  most,
});

async function granted(budget: Budget, request: Ask): Promise<Grant> {
  const decision = await budget.reserve(request);
  if ("exhausted" in decision) throw new Error(`refused by ${decision.exhausted.scope}`);
  return decision.grant;
}

describe("a budget", () => {
  verifies(["M14"], "grants the longest answer that fits, and says what limited it", async () => {
    const budget = new Budget({ scope: "this run", limit: { usd: 100 } });
    const first = await granted(budget, ask(10, 5, 60));
    expect(first).toMatchObject({ output: 60 });
    expect(first.limitedBy).toBeUndefined();
    const second = await granted(budget, ask(10, 5, 60));
    expect(second).toMatchObject({ output: 20, limitedBy: { scope: "this run", unit: "usd", limit: 100 } });
    expect(budget.held.usd).toBe(100);
    await first.charge({ usd: 12, tokens: 12 });
    await first.charge({ usd: 99, tokens: 99 });
    expect(budget.spent).toEqual({ usd: 12, tokens: 12 });
    expect(budget.held.usd).toBe(30);
  });

  verifies(["M14"], "refuses what does not fit, with what is spent and needed", async () => {
    const budget = new Budget({ scope: "this day", limit: { tokens: 50 }, spent: { usd: 1, tokens: 45 } });
    const decision = await budget.reserve(ask(3, 3, 10));
    expect(decision).toEqual({ exhausted: { scope: "this day", unit: "tokens", limit: 50, spent: 45, needed: 6 } });
    budget.limit = { tokens: 60 };
    expect((await granted(budget, ask(3, 3, 10))).output).toBe(10);
  });

  it("makes a call wait while another one holds what it needs, and lets it go when its turn is cancelled", async () => {
    const budget = new Budget({ scope: "b", limit: { usd: 10 } });
    const first = await granted(budget, ask(0, 10, 10));
    const order: string[] = [];
    const second = granted(budget, ask(0, 5, 5)).then((grant) => {
      order.push("granted");
      return grant;
    });
    const controller = new AbortController();
    const third = budget.reserve(ask(0, 5, 5), controller.signal);
    controller.abort();
    await expect(third).rejects.toThrow("cancelled");
    order.push("settled");
    await first.charge({ usd: 2, tokens: 2 });
    expect((await second).output).toBe(5);
    expect(order).toEqual(["settled", "granted"]);
  });

  it("gives back what a parent refused, and takes no more than the parent gave", async () => {
    const parent = new Budget({ scope: "session", limit: { usd: 10 } });
    const child = parent.child("turn", { usd: 100 });
    const grant = await granted(child, ask(0, 1, 50));
    expect(grant).toMatchObject({ output: 10, limitedBy: { scope: "session" } });
    expect(child.held.usd).toBe(10);
    await grant.charge({ usd: 10, tokens: 10 });
    expect(await child.reserve(ask(0, 1, 50))).toMatchObject({ exhausted: { scope: "session" } });
    expect(child.held).toEqual(NOTHING);
  });

  /** A tree of budgets, and calls at random places of it that end in random order having used a random part of their grant. */
  const trees = fc.record({
    limits: fc.array(fc.record({ usd: fc.option(fc.integer({ min: 0, max: 300 })), under: fc.nat(20) }), {
      minLength: 1,
      maxLength: 8,
    }),
    calls: fc.array(
      fc.record({
        at: fc.nat(20),
        fixed: fc.nat(40),
        least: fc.integer({ min: 1, max: 20 }),
        more: fc.nat(60),
        used: fc.nat(100),
      }),
      { maxLength: 25 },
    ),
  });

  verifies(["M14"], "is never exceeded, whatever the calls and the order they end in", async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.scheduler(), async ({ limits, calls }, scheduler) => {
        const nodes: { budget: Budget; limit: BudgetLimit; parent: number | undefined }[] = [];
        for (const [index, { usd, under }] of limits.entries()) {
          const limit = usd === null ? {} : { usd };
          const parent = index === 0 ? undefined : under % index;
          const above = parent === undefined ? undefined : nodes[parent]?.budget;
          nodes.push({ budget: above?.child(`${index}`, limit) ?? new Budget({ scope: "0", limit }), limit, parent });
        }
        const check = () => {
          for (const { budget, limit } of nodes) {
            const taken = budget.spent.usd + budget.held.usd;
            if (limit.usd !== undefined) expect(taken).toBeLessThanOrEqual(limit.usd + 1e-6);
            expect(budget.held.usd).toBeGreaterThanOrEqual(-1e-6);
          }
        };
        const spentAt = nodes.map(() => 0);
        const all = calls.map(async ({ at, fixed, least, more, used }, index) => {
          const place = at % nodes.length;
          await scheduler.schedule(Promise.resolve(), `begin ${index}`);
          const decision = await nodes[place]?.budget.reserve(ask(fixed, least, least + more));
          check();
          if (decision === undefined || "exhausted" in decision) return;
          const { grant } = decision;
          expect(grant.output).toBeGreaterThanOrEqual(least);
          expect(grant.output).toBeLessThanOrEqual(least + more);
          await scheduler.schedule(Promise.resolve(), `end ${index}`);
          const usd = Math.min(fixed + grant.output, Math.floor(((fixed + grant.output) * used) / 100));
          await grant.charge({ usd, tokens: usd } satisfies Amount);
          for (let node: number | undefined = place; node !== undefined; node = nodes[node]?.parent) {
            spentAt[node] = (spentAt[node] ?? 0) + usd;
          }
          check();
        });
        await scheduler.waitFor(Promise.all(all));
        expect(nodes.map(({ budget }) => budget.spent.usd)).toEqual(spentAt);
        for (const { budget } of nodes) expect(budget.held).toEqual(NOTHING);
      }),
      { numRuns: 150 },
    );
  });
});

describe("amounts as text", () => {
  it.each([
    ["0.50", { usd: 0.5 }],
    ["$2", { usd: 2 }],
    [".25 USD", { usd: 0.25 }],
    ["200k tokens", { tokens: 200_000 }],
    ["1.5M tokens", { tokens: 1_500_000 }],
    ["$2, 1M tokens", { usd: 2, tokens: 1_000_000 }],
  ])("reads %s", (text, limit) => {
    expect(parseBudget(text)).toEqual(limit);
  });

  it.each(["", "0", "-1", "abc", "200k", "$5 tokens", "1, 2", "1e3", "NaN", "1 token, 2 tokens"])(
    "refuses %s",
    (text) => {
      expect(parseBudget(text)).toBeUndefined();
    },
  );

  it("never shows something as nothing", () => {
    expect(formatUsd(0)).toBe("$0.00");
    expect(formatUsd(0.00001)).toBe("<$0.0001");
    expect(formatUsd(0.0312)).toBe("$0.0312");
    expect(formatUsd(12.4)).toBe("$12.40");
    expect(formatBudget({ usd: 2, tokens: 1_000_000 })).toBe("$2.00, 1,000,000 tokens");
    expect(formatBudget({})).toBe("none");
  });
});
