import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../../../test/support/thorough.js";
import { diffText } from "../../../../base/diff.js";
import { parseHunks } from "../../../sdk/shown/hunks.js";
import { changedHunks, numberedHunks, wholeFile } from "./whole-file.js";

const text = fc
  .array(fc.constantFrom("a", "b", "c", "", "  x"))
  .map((lines) => lines.map((line) => `${line}\n`).join(""));

describe("wholeFile", () => {
  it("joins a file and its changes to both versions, from either side and without numbers", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { hunks } = parseHunks(diffText(before, after, { maxLines: 1000 }).text);
        const versions = [
          wholeFile({ content: before, side: "old" }, hunks),
          wholeFile({ content: after, side: "new" }, hunks),
          wholeFile({ content: before, side: "old" }, changedHunks(before, after)),
        ];
        for (const { lines, starts } of versions) {
          // A removal of everything leaves no line to find on the new side.
          if (starts.includes(undefined)) continue;
          const side = (without: string) =>
            lines
              .filter(({ kind }) => kind !== without)
              .map((line) => `${line.text}\n`)
              .join("");
          expect([side("added"), side("removed")]).toEqual([before, after]);
          for (const key of ["oldNumber", "newNumber"] as const) {
            const numbers = lines.flatMap((line) => line[key] ?? []);
            expect(numbers).toEqual(numbers.map((_, index) => index + 1));
          }
        }
      }),
      { numRuns: times(60, 2000) },
    );
  });

  it("finds changes that have no numbers, in any order, and keeps those without a place", () => {
    const change = (old: string, fresh: string) => ({
      lines: [
        { kind: "removed", text: old },
        { kind: "added", text: fresh },
      ] as const,
    });
    const hunks = [change("d", "D"), change("b", "B"), change("z", "Z")];
    const whole = wholeFile({ content: "a\r\nb\r\nc\r\nd\r\n", side: "old" }, hunks);
    expect(whole.starts).toEqual([4, 1, undefined]);
    const [first, , third] = numberedHunks(hunks, whole, 1);
    expect(first?.lines.map(({ kind, text: shown, newNumber }) => [kind, shown.trim(), newNumber])).toEqual([
      ["same", "c", 3],
      ["removed", "d", undefined],
      ["added", "D", 4],
    ]);
    expect(third).toBe(hunks[2]);
  });
});
