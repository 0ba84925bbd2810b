import { expect, it } from "vitest";
import { pooled, rowOf } from "./statistic.mjs";
import { verdictOf } from "./verdict.mjs";

const known = { baseline: { start: 2, other: 1 }, accepted: [{ name: "start", upTo: 2.5, why: "known" }] };
const row = (name: string, ratio: number) => ({ name, ratio, limit: 2 });

it("fails for what is over its bar or worse than before, and not for what is recorded", () => {
  expect(verdictOf(row("start", 2.2), known).problem).toBeUndefined();
  expect(verdictOf(row("start", 2.2), known).note).toContain("recorded up to 2.5");
  expect(verdictOf(row("start", 2.6), known).problem).toContain("over the bar of 2.5");
  expect(verdictOf(row("new", 2.1), known).problem).toBe("over the bar of 2");
  expect(verdictOf(row("other", 1.3), known).problem).toBe("worse than the baseline 1");
  expect(verdictOf(row("other", 1.2), known)).toEqual({ note: "ok" });
});

it("takes a bar in milliseconds as well as one in ratios", () => {
  expect(verdictOf({ ...row("turn", 3), oxbow: 11, enoughMs: 12 }, known)).toEqual({ note: "ok" });
  expect(verdictOf({ ...row("turn", 3), oxbow: 13, enoughMs: 12 }, known).problem).toBe("over the bar of 2");
});

it("says when a recorded exception is none any more", () => {
  expect(verdictOf(row("start", 1.5), known).note).toContain("though recorded");
});

it("counts the rounds of a repeated measurement together, also the slow ones", () => {
  const measured = (oxbow: number[]) =>
    rowOf({ name: "turn", unit: "x", values: { floor: [1, 1, 1], oxbow }, limit: 2 });
  const [row] = pooled([measured([3, 3, 3])], [measured([1, 3, 1])]);
  expect(row).toMatchObject({ ratio: 3, limit: 2, values: { oxbow: [3, 3, 3, 1, 3, 1] } });
});
