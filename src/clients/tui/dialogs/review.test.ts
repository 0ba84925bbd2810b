import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { answerOf } from "../effects/review-question.js";
import { chosenFiles } from "../effects/review-undo.js";
import { plainTheme } from "../themes.js";
import { proposedChange } from "./proposed-change.js";
import { editReview, key, stateAfter, undoReview } from "./samples.testkit.js";

const SIZE = { columns: 80, rows: 24 };

describe("the review", () => {
  verifies(["U3"], "takes a decision for each file and leaves the others as they are", () => {
    const dialog = undoReview();
    const state = stateAfter(dialog, ["a", "d", "a", "s"]);
    expect(dialog.onKey(state, key("enter"))).toEqual({
      done: { kind: "decided", accepted: [{ file: 0 }], declined: [{ file: 1 }], undecided: [{ file: 3 }] },
    });
    expect(dialog.onKey(state, key("escape"))).toEqual({ done: undefined });
  });

  verifies(["U3"], "accepts all with one key, except what cannot be done", () => {
    const dialog = undoReview();
    const done = dialog.onKey(stateAfter(dialog, ["A"]), key("enter"));
    expect(done).toMatchObject({ done: { accepted: [{ file: 0 }, { file: 1 }, { file: 3 }], declined: [] } });
  });

  verifies(["U3", "T10"], "undoes whole files, and chosen changes of the others", () => {
    const files = [
      { path: "a", what: "", notes: [], hunks: [{ lines: [] }, { lines: [] }, { lines: [] }] },
      { path: "b", what: "", notes: [], hunks: [{ lines: [] }] },
      { path: "c", what: "", notes: [], hunks: [{ lines: [] }, { lines: [] }] },
    ];
    const stops = [{ file: 0, hunk: 0 }, { file: 0, hunk: 2 }, { file: 1 }, { file: 2, hunk: 0 }, { file: 2, hunk: 1 }];
    expect(chosenFiles(stops, files)).toEqual([{ path: "a", hunks: [1, 3] }, { path: "b" }, { path: "c" }]);
    expect(chosenFiles([], files)).toEqual([]);
  });

  verifies(["U3"], "goes between files and hunks and never past an end", () => {
    const dialog = editReview();
    expect(stateAfter(dialog, ["n"]).at).toBe(1);
    expect(stateAfter(dialog, ["n", "n", "n"]).at).toBe(1);
    expect(stateAfter(dialog, ["n", "p", "p"]).at).toBe(0);
    expect(stateAfter(undoReview(), ["tab", "tab", "shift+tab"]).at).toBe(1);
  });

  verifies(["U3"], "scrolls a long diff, and returns to the change with the next key", () => {
    const dialog = undoReview();
    const size = { columns: 40, rows: 10 };
    dialog.view(dialog.first, size, plainTheme);
    const scrolled = stateAfter(dialog, ["down"]);
    expect(scrolled.top).toBe(1);
    expect(dialog.view(scrolled, size, plainTheme).lines).toHaveLength(10);
    expect(stateAfter(dialog, ["down", "v"]).top).toBeUndefined();
  });

  verifies(["U3", "P2"], "answers a question: all, nothing, or which of the changes are wanted", () => {
    const files = proposedChange({
      path: "a.ts",
      edits: [
        { old: "1", new: "2" },
        { old: "3", new: "4" },
      ],
    });
    const decide = (keys: readonly string[], end = "enter") => {
      const dialog = editReview();
      const step = dialog.onKey(stateAfter(dialog, keys), key(end));
      return "done" in step ? answerOf(step.done, files) : "open";
    };
    expect(decide(["a", "a"])).toEqual({ decision: "allow_once" });
    expect(decide(["d", "d"])).toEqual({ decision: "deny" });
    expect(decide(["d"])).toEqual({ decision: "deny" });
    expect(decide([])).toBeUndefined();
    expect(decide([], "y")).toEqual({ decision: "allow_once" });
    expect(decide([], "escape")).toBeUndefined();
    expect(decide(["a", "d"])).toEqual({
      decision: "deny",
      message: expect.stringContaining("wants change 1 (of 2), and does not want change 2 (of 2)"),
    });
    // The keys of the question that mean something else here do not answer.
    for (const id of ["n", "s", "t", "v"]) expect(decide([], id)).toBe("open");
  });

  it("shows every line of a patch", () => {
    const patch =
      "*** Begin Patch\n*** Update File: a\n*** Move to: c\n@@\n-one\n--- two\n+three\n*** Delete File: b\n*** End Patch";
    const [first, second] = proposedChange({ patch });
    expect(first).toMatchObject({ path: "a", notes: ["*** Move to: c"] });
    expect(first?.hunks[0]?.lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      "removed one",
      "removed -- two",
      "added three",
    ]);
    expect(second).toMatchObject({ path: "b", what: "delete, +0 -0" });
  });

  it("reads a unified diff with its numbers", () => {
    const patch =
      "--- a/x.ts\n+++ b/x.ts\n@@ -7,2 +7,2 @@\n same\n-old\n+new\n--- /dev/null\n+++ b/y.ts\n@@ -0,0 +1 @@\n+y\n";
    const files = proposedChange({ patch });
    expect(files.map(({ path, what }) => `${path}: ${what}`)).toEqual(["x.ts: change, +1 -1", "y.ts: create, +1 -0"]);
    expect(files[0]?.hunks[0]?.lines[1]).toEqual({ kind: "removed", text: "old", oldNumber: 8 });
  });

  it("uses two columns where there is room", () => {
    const dialog = undoReview();
    const wide = dialog.view(dialog.first, { columns: 140, rows: 24 }, plainTheme).lines;
    expect(wide.some((line) => line.includes("│"))).toBe(true);
    expect(dialog.view(dialog.first, SIZE, plainTheme).lines.some((line) => line.includes("│"))).toBe(false);
  });
});
