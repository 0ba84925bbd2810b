import { describe, expect, it } from "vitest";
import { fuseScores, type Scored } from "./fuse-scores.js";

const list = (scores: Record<string, number>): Scored<string>[] =>
  Object.entries(scores).map(([key, score]) => ({ key, score }));
const order = (words: Record<string, number>, meaning: Record<string, number>, share?: number) =>
  fuseScores(list(words), list(meaning), share).map(({ key }) => key);

describe("one order from two", () => {
  it("is that of the one that found something", () => {
    expect(order({ a: 3, b: 2 }, {})).toEqual(["a", "b"]);
    expect(order({}, { c: 0.9, d: 0.4 })).toEqual(["c", "d"]);
    expect(order({}, {})).toEqual([]);
  });

  it("prefers what both found, whatever the units", () => {
    expect(order({ a: 9, both: 8, b: 1 }, { c: 0.8, both: 0.79, d: 0.2 })[0]).toBe("both");
    expect(order({ a: 9000, both: 8000, b: 1000 }, { c: 0.8, both: 0.79, d: 0.2 })[0]).toBe("both");
  });

  it("keeps the order of the words where meanings do not differ", () => {
    expect(order({ a: 10, b: 7, c: 2 }, { x: 0.7, a: 0.7, b: 0.7, c: 0.7 }).slice(0, 2)).toEqual(["a", "b"]);
  });

  it("lets the one decide in which a candidate stands out", () => {
    const even = { a: 5, b: 4.5, c: 4, d: 3.5, e: 3, f: 2.5 };
    expect(order(even, { z: 0.9, f: 0.3, e: 0.29, d: 0.28, c: 0.27, b: 0.26 }, 0.6)[0]).toBe("z");
    expect(order({ w: 30, ...even }, { f: 0.5, e: 0.48, d: 0.46, c: 0.44, b: 0.42 })[0]).toBe("w");
    expect(order({ a: 9, b: 1 }, { z: 0.9, b: 0.2 }, 0)[0]).toBe("a");
    expect(order({ a: 9, b: 1 }, { z: 0.9, b: 0.2 }, 1)[0]).toBe("z");
  });
});
