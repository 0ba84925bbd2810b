import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../test/support/processor-time.js";
import { times } from "../../test/support/thorough.js";
import { type DiffPart, diffLines, diffText } from "./diff.js";

function rebuild(before: readonly string[], after: readonly string[], parts: readonly DiffPart[]): void {
  let i = 0;
  let j = 0;
  for (const part of parts) {
    expect([part.oldStart, part.newStart]).toEqual([i, j]);
    if (part.kind === "same") {
      expect(part.oldCount).toBe(part.newCount);
      expect(before.slice(i, i + part.oldCount)).toEqual(after.slice(j, j + part.newCount));
    }
    i += part.oldCount;
    j += part.newCount;
  }
  expect([i, j]).toEqual([before.length, after.length]);
}

/** Length of the longest common subsequence, the slow and plain way. */
function longestCommon(before: readonly string[], after: readonly string[]): number {
  let row = new Array<number>(after.length + 1).fill(0);
  for (const line of before) {
    const next = [0];
    after.forEach((other, j) => {
      next.push(line === other ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0));
    });
    row = next;
  }
  return row[after.length] ?? 0;
}

describe("diffLines", () => {
  it("covers both sides and keeps as many lines as possible", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 40 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const parts = diffLines(before, after);
        rebuild(before, after, parts);
        const same = parts.filter((part) => part.kind === "same").reduce((sum, part) => sum + part.oldCount, 0);
        expect(same).toBe(longestCommon(before, after));
      }),
      { numRuns: times(400, 2000), seed: 7 },
    );
  });

  it("stays affordable on large files that share many lines in another order", () => {
    const before = Array.from({ length: 40_000 }, (_, i) => `line ${(i * 7919) % 1000}`);
    const after = Array.from({ length: 40_000 }, (_, i) => `line ${(i * 104_729) % 1000}`);
    expect(processorMs(() => rebuild(before, after, diffLines(before, after)))).toBeLessThan(5000);
  });
});

describe("diffText", () => {
  it("is a unified diff with three lines of context and counts", () => {
    const before = Array.from({ length: 12 }, (_, i) => `l${i + 1}\n`).join("");
    const { text, added, removed } = diffText(before, before.replace("l6\n", "six\nsix and a half\n"));
    expect({ added, removed }).toEqual({ added: 2, removed: 1 });
    expect(text).toBe(
      ["@@ -3,7 +3,8 @@", " l3", " l4", " l5", "-l6", "+six", "+six and a half", " l7", " l8", " l9"].join("\n"),
    );
  });

  it("joins hunks that touch and separates those that do not", () => {
    const before = Array.from({ length: 30 }, (_, i) => `l${i + 1}\n`).join("");
    const near = diffText(before, before.replace("l5\n", "x\n").replace("l12\n", "y\n"));
    const far = diffText(before, before.replace("l5\n", "x\n").replace("l13\n", "y\n"));
    expect(near.text.match(/^@@/gm)).toHaveLength(1);
    expect(far.text.match(/^@@/gm)).toHaveLength(2);
  });

  it("shows a new file, an emptied file and a missing final newline", () => {
    expect(diffText("", "a\nb\n").text).toBe("@@ -0,0 +1,2 @@\n+a\n+b");
    expect(diffText("a\n", "").text).toBe("@@ -1,1 +0,0 @@\n-a");
    expect(diffText("a\n", "a").text).toBe("@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file");
    expect(diffText("a\n", "a\n")).toEqual({ added: 0, removed: 0, text: "" });
  });

  it("[T9] says how much it left out", () => {
    const { text, added } = diffText("", "x\n".repeat(500), { maxLines: 10 });
    expect(added).toBe(500);
    expect(text.split("\n")).toHaveLength(11);
    expect(text).toContain("… 491 more diff lines");
    expect(diffText("", `${"y".repeat(5000)}\n`).text).toContain("y… (4000 more characters)");
  });
});
