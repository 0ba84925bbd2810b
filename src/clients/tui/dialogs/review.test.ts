import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { proposedChange } from "../../sdk/shown/proposed-change.js";
import { withText } from "../effects/review-files.js";
import { answerOf } from "../effects/review-question.js";
import { chosenFiles } from "../effects/review-undo.js";
import { plainTheme } from "../themes.js";
import type { ReviewFile } from "./review.js";
import { approvalReview, editReview, key, stateAfter, undoReview, wholeReview } from "./samples.testkit.js";

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

  verifies(["U3"], "shows the whole file with the changes in place, and switches back", () => {
    const dialog = wholeReview();
    const view = (keys: readonly string[]) => {
      dialog.view(dialog.first, SIZE, plainTheme);
      return dialog.view(stateAfter(dialog, keys), { columns: 80, rows: 60 }, plainTheme).lines.join("\n");
    };
    expect(view([])).toContain("v two columns · w saves it in a file");
    expect(view(["v"])).toContain("v the whole file");
    const whole = view(["v", "v"]);
    expect(whole).toMatch(
      / 1 {3}line 1\n[\s\S]* 5 - line 5\n 5 \+ line five\n[\s\S]*21 \+ const evil[\s\S]*31 {3}line 30\n/,
    );
    expect(whole).toContain("❯ change 1 of 2: not decided\n17   line 17");
    expect(whole).toContain("v one column");
    expect(view(["v", "v", "a"])).toMatch(/❯ change 2 of 2: not decided[\s\S]* change 1 of 2: accepted/);
    expect(view(["v", "v", "v"])).toBe(view([]));
    // A narrow screen has no two columns.
    dialog.view(dialog.first, { columns: 40, rows: 20 }, plainTheme);
    expect(stateAfter(dialog, ["v"]).layout).toBe("file");
  });

  verifies(["U3"], "saves the changes, or the whole file, without control characters", () => {
    const saved: string[][] = [];
    const dialog = wholeReview((name, text) => `/saved/${saved.push([name, text])}`);
    dialog.view(dialog.first, SIZE, plainTheme);
    expect(stateAfter(dialog, ["w"]).message).toBe("Saved: /saved/1");
    expect(stateAfter(dialog, ["w", "n"]).message).toBeUndefined();
    stateAfter(dialog, ["v", "v", "w"]);
    const [[name, diff = ""] = [], , [whole, text = ""] = []] = saved;
    expect([name, whole]).toEqual(["a.ts.diff", "a.ts"]);
    expect(diff).toContain("--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,8 +1,8 @@\n line 1\n");
    expect(diff).toContain("@@ -17,7 +17,8 @@\n line 17\n");
    expect(text).toMatch(/^line 1\nline 2\nline 3\nline 4\nline five\nline 6\n[\s\S]*line 30\n$/);
    expect(diff + text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
    const failing = wholeReview(() => {
      throw new Error("the disk is full");
    });
    expect(stateAfter(failing, ["w"]).message).toBe("Not saved: the disk is full");
  });

  verifies(["U3"], "compares a file that a call writes anew with what is there, and cuts no line", () => {
    const long = "x".repeat(5000);
    const [file] = proposedChange({ path: "a.txt", content: `one\n2\n${long}\n` });
    const changed = withText(file as ReviewFile, { exists: true, content: "one\ntwo\n" });
    expect(changed).toMatchObject({ what: "replace, +2 -1", whole: true });
    expect(changed.hunks[0]?.lines.at(-1)?.text).toBe(long);
    expect(withText(file as ReviewFile, { exists: false })).toMatchObject({ what: "create, +3 -0", isNew: true });
    expect(withText(file as ReviewFile, { exists: true }).hunks[0]?.lines).toHaveLength(3);
    const { replacement = "" } = file as ReviewFile;
    expect(withText(file as ReviewFile, { exists: true, content: replacement.trimEnd() }).notes).toEqual([
      "Only the newline at the end of the file changes.",
    ]);
  });

  verifies(["U3"], "says on the left that a file is new", () => {
    const dialog = approvalReview();
    const [, , first] = dialog.view(dialog.first, { columns: 140, rows: 24 }, plainTheme).lines;
    expect(first).toMatch(/^\[new file\] +│ 1 \+ \{$/);
  });

  it("uses two columns where there is room", () => {
    const dialog = undoReview();
    const wide = dialog.view(dialog.first, { columns: 140, rows: 24 }, plainTheme).lines;
    expect(wide.some((line) => line.includes("│"))).toBe(true);
    expect(dialog.view(dialog.first, SIZE, plainTheme).lines.some((line) => line.includes("│"))).toBe(false);
  });
});
