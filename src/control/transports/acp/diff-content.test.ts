import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { diffText } from "../../../base/diff.js";
import { changedPaths, proposedDiffs, resultDiffs } from "./diff-content.js";

const details = (before: string, after: string, more: object = {}) => ({
  path: "src/a.txt",
  diff: diffText(before, after).text,
  ...more,
});

describe("diffs for an editor", () => {
  verifies(["C4"], "have the text before and after, for each hunk, with and without a newline at the end", () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}\n`);
    const changed = lines.with(2, "second\n").with(35, "thirty-five\n");
    const [first, second, ...rest] = resultDiffs(details(lines.join(""), changed.join("")), "/w");
    expect(rest).toEqual([]);
    expect(first).toMatchObject({ type: "diff", path: "/w/src/a.txt" });
    expect(lines.join("")).toContain(first?.oldText ?? "-");
    expect(changed.join("")).toContain(second?.newText ?? "-");
    expect(resultDiffs(details("a\nb", "a\nc\n"), "/w")).toEqual([
      { type: "diff", path: "/w/src/a.txt", oldText: "a\nb", newText: "a\nc\n" },
    ]);
    expect(resultDiffs(details("", "- x\n+ y\n", { created: true }), "/w")).toEqual([
      { type: "diff", path: "/w/src/a.txt", newText: "- x\n+ y\n" },
    ]);
  });

  verifies(["C4"], "come from all files of a patch; calls that change nothing have none", () => {
    const files = [details("a\n", "b\n"), { ...details("", "c\n"), path: "/x/c", kind: "added" }];
    expect(resultDiffs({ files }, "/w").map(({ path }) => path)).toEqual(["/w/src/a.txt", "/x/c"]);
    expect(changedPaths({ files }, "/w")).toEqual(["/w/src/a.txt", "/x/c"]);
    for (const none of [undefined, {}, { path: "a" }, { diff: "@@ -1 +1 @@\n-a\n+b" }, { files: [null, "x", 3] }]) {
      expect(resultDiffs(none, "/w")).toEqual([]);
    }
    expect(proposedDiffs({ path: "a", edits: [{ old: "x", new: "y" }, "nonsense", { old: "x" }] }, "/w")).toEqual([
      { type: "diff", path: "/w/a", oldText: "x", newText: "y" },
    ]);
    expect(proposedDiffs({ command: "ls" }, "/w")).toEqual([]);
  });
});
