import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../test/support/thorough.js";
import { diffText } from "./diff.js";
import { applySomeHunks, countHunks } from "./some-hunks.js";

const TEXT = fc
  .array(fc.constantFrom("a", "b", "c", "", "d", "e"), { maxLength: 60 })
  .chain((lines) => fc.boolean().map((ends) => lines.join("\n") + (ends && lines.length > 0 ? "\n" : "")));

describe("some hunks of a difference", () => {
  it("are nothing when none is chosen, and the other version when all are", () => {
    fc.assert(
      fc.property(TEXT, TEXT, (before, after) => {
        const all = new Set(Array.from({ length: countHunks(before, after) }, (_, index) => index + 1));
        expect(applySomeHunks(before, after, new Set())).toBe(before);
        expect(applySomeHunks(before, after, all)).toBe(after);
      }),
      { numRuns: times(200, 5000) },
    );
  });

  it("are counted as the diff shows them", () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const before = `${lines.join("\n")}\n`;
    const after = before.replace("line 3\n", "LINE 3\n").replace("line 20\n", "").replace("line 39\n", "line 39");
    expect(diffText(before, after).text.match(/^@@/gm)?.length).toBe(countHunks(before, after));
    expect(applySomeHunks(before, after, new Set([2]))).toBe(before.replace("line 20\n", ""));
    expect(applySomeHunks(before, after, new Set([1, 3]))).toBe(
      before.replace("line 3\n", "LINE 3\n").replace("line 39\n", "line 39"),
    );
  });
});
