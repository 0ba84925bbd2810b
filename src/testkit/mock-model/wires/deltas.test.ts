import * as fc from "fast-check";
import { expect, it } from "vitest";
import { argumentDeltas, textDeltas } from "./deltas.js";

const cut = (text: string, options: object = {}) => [...textDeltas({ type: "text", text, ...options })];

it("streams words", () => {
  expect(cut("Hello, big world\n\nagain ")).toEqual(["Hello,", " big", " world", "\n\nagain "]);
  expect(cut("x ", { repeat: 3 })).toEqual(["x ", "x ", "x "]);
  expect(cut("  ")).toEqual(["  "]);
  expect(cut("")).toEqual([]);
});

it("cuts into so many, or so long, and never through a character", () => {
  expect(cut("abcdefg", { chunks: 3 })).toEqual(["ab", "cd", "efg"]);
  expect(cut("abcdefg", { size: 3 })).toEqual(["abc", "def", "g"]);
  expect(cut("ab", { chunks: 9 })).toEqual(["a", "b"]);
  expect(cut("a😀b", { size: 1 })).toEqual(["a", "😀", "b"]);
  expect(cut("ab", { repeat: 2, size: 3 })).toEqual(["aba", "b"]);
});

it("loses nothing", () => {
  const options = fc.record(
    {
      chunks: fc.integer({ min: 1, max: 9 }),
      size: fc.integer({ min: 1, max: 9 }),
      repeat: fc.integer({ min: 1, max: 3 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), options, (text, given) => {
      expect(cut(text, given).join("")).toBe(text.repeat(given.repeat ?? 1));
      const { repeat: _, ...pace } = given;
      expect([...argumentDeltas({ type: "tool", name: "t", args: text, ...pace })].join("")).toBe(text);
    }),
  );
});
