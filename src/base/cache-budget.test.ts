import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { CacheBudget, processCaches } from "./cache-budget.js";

describe("caches with one budget", () => {
  verifies(["O3"], "never hold more than the limit, and drop what was used least recently in any of them", () => {
    const budget = new CacheBudget(100);
    const [a, b] = [budget.cache<string>("a", { share: 1 }), budget.cache<string>("b")];
    a.set("1", "one", 40);
    b.set("1", "uno", 40);
    expect(a.get("1")).toBe("one");
    a.set("2", "two", 40);
    expect([a.get("1"), b.get("1"), a.get("2")]).toEqual(["one", undefined, "two"]);
    expect(budget.figures).toEqual([
      { name: "a", entries: 2, bytes: 80, hits: 3, misses: 0, evictions: 0 },
      { name: "b", entries: 0, bytes: 0, hits: 0, misses: 1, evictions: 1 },
    ]);
  });

  it("do not keep a value that is larger than the limit, and count a replaced one once", () => {
    const budget = new CacheBudget(100);
    const cache = budget.cache<number>("a", { share: 1 });
    cache.set("x", 1, 60);
    cache.set("x", 2, 70);
    expect([cache.get("x"), budget.bytes]).toEqual([2, 70]);
    cache.set("x", 3, 101);
    expect([cache.get("x"), budget.bytes]).toEqual([undefined, 0]);
  });

  verifies(["O3"], "hold no more than their share, and leave the others alone when they reach it", () => {
    const budget = new CacheBudget(100);
    const [a, b] = [budget.cache<number>("a"), budget.cache<number>("b", { share: 0.25 })];
    b.set("old", 1, 20);
    for (const key of ["1", "2", "3", "4"]) a.set(key, 1, 20);
    expect([a.get("1"), a.get("2"), a.get("3"), a.get("4"), b.get("old")]).toEqual([undefined, undefined, 1, 1, 1]);
    a.set("large", 1, 51);
    b.set("large", 1, 26);
    expect([a.get("large"), b.get("large"), b.get("old")]).toEqual([undefined, undefined, 1]);
    expect(budget.figures.map(({ name, evictions }) => [name, evictions])).toEqual([
      ["a", 3],
      ["b", 1],
    ]);
  });

  verifies(["O3"], "of this process are all listed, also before their first use", () => {
    const names = [
      "instruction files",
      "skill bodies",
      "extension files",
      "MCP schemas",
      "model catalogue",
      "file names",
    ];
    expect(processCaches.figures.map(({ name }) => name)).toEqual(names);
    expect(processCaches.limitBytes).toBe(32 * 1024 * 1024);
  });

  it("count right, whatever happens", () => {
    const steps = fc.array(
      fc.record({
        name: fc.constantFrom("a", "b", "c"),
        key: fc.constantFrom("1", "2", "3", "4"),
        bytes: fc.integer({ min: 0, max: 120 }),
        what: fc.constantFrom("set", "get", "delete"),
      }),
    );
    fc.assert(
      fc.property(steps, (all) => {
        const budget = new CacheBudget(100);
        for (const { name, key, bytes, what } of all) {
          const cache = budget.cache<number>(name);
          if (what === "set") cache.set(key, bytes, bytes);
          else cache[what as "get" | "delete"](key);
          expect(budget.bytes).toBeLessThanOrEqual(100);
        }
        expect(budget.figures.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(budget.bytes);
        expect(budget.figures.every(({ entries, bytes }) => entries >= 0 && bytes >= 0)).toBe(true);
      }),
    );
  });
});
