import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { applySplices, lineAt, listLines, trimSplice } from "./splice.js";

describe("splices", () => {
  it("say the same without the lines they do not change", () => {
    const line = fc.constantFrom("a\n", "b\n", "\n", "ab\n");
    const lines = fc.array(line, { maxLength: 6 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(lines, lines, lines, lines, (before, old, after, fresh) => {
        const text = before + old + after;
        const splice = { start: before.length, end: before.length + old.length, text: fresh };
        const trimmed = trimSplice(text, splice);
        expect(applySplices(text, [trimmed])).toBe(applySplices(text, [splice]));
        expect(trimmed.start).toBeGreaterThanOrEqual(splice.start);
        expect(trimmed.end).toBeLessThanOrEqual(splice.end);
        expect(trimmed.end).toBeGreaterThanOrEqual(trimmed.start);
      }),
      { numRuns: times(600, 3000), seed: 5 },
    );
    expect(trimSplice("a\nb\nc\n", { start: 0, end: 6, text: "a\nx\nc\n" })).toEqual({ start: 2, end: 4, text: "x\n" });
  });

  it("name their places by lines", () => {
    const text = "a\n".repeat(20);
    expect(lineAt(text, 0)).toBe(1);
    expect(lineAt(text, 6)).toBe(4);
    expect(listLines(text, [0])).toBe("1");
    expect(listLines(text, [0, 2, 4])).toBe("1, 2 and 3");
    expect(
      listLines(
        text,
        Array.from({ length: 20 }, (_, i) => 2 * i),
      ),
    ).toBe("1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 10 more");
  });
});
