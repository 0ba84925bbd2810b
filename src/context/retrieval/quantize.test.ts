import fc from "fast-check";
import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { cosine, normalized, toBits, toBytes } from "./quantize.js";

const length = (vector: Float32Array) => Math.hypot(...vector);
const exact = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, value, i) => sum + value * (other[i] ?? 0), 0) / (Math.hypot(...one) * Math.hypot(...other));

describe("a vector", () => {
  verifies(["X6"], "has unit length afterwards, unless it has no direction", () => {
    expect([...normalized([3, 4])]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
    for (const none of [
      [0, 0],
      [1e200, 1e200],
      [Number.NaN, 1],
    ]) {
      expect(length(normalized(none)) || 0).toBe(0);
    }
  });

  verifies(["X6"], "keeps its cosine to two digits in a byte for each dimension", () => {
    const vector = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(vector, vector, (one, other) => {
        fc.pre(Math.hypot(...one) > 0 && Math.hypot(...other) > 0);
        const bytes = toBytes(normalized(other));
        expect(bytes).toHaveLength(16);
        expect(cosine(normalized(one), bytes)).toBeCloseTo(exact(one, other), 1);
        expect(Math.abs(cosine(normalized(one), bytes) - exact(one, other))).toBeLessThan(0.03);
      }),
      { numRuns: 200, seed: 3 },
    );
    expect([...new Int8Array(toBytes(Float32Array.of(0.5, -1, 0)).buffer)]).toEqual([64, -127, 0]);
    expect(cosine(normalized([1, 1]), toBytes(Float32Array.of(0, 0)))).toBe(0);
  });

  verifies(["X6"], "has the signs of its dimensions as bits, in whole groups of 32", () => {
    expect([...toBits(Float32Array.of(1, -1, 0, 2, 0, 0, 0, 0, 3))]).toEqual([0b1001, 1, 0, 0]);
    expect([32, 33, 64].map((dimensions) => toBits(new Float32Array(dimensions)).length)).toEqual([4, 8, 8]);
  });
});
