import { describe, expect, it } from "vitest";
import { previewCall } from "./preview.js";

describe("what a call would write", () => {
  it("is the text, the replacements or the patch", () => {
    expect(previewCall({ path: "a", content: "one\ntwo\n" })).toBe("+one\n+two");
    expect(
      previewCall({
        path: "a",
        edits: [
          { old: "x", new: "y" },
          { old: "", new: "z" },
        ],
      }),
    ).toBe("-x\n+y\n+z");
    expect(previewCall({ patch: "*** Begin Patch\n*** End Patch" })).toBe("*** Begin Patch\n*** End Patch");
    expect(previewCall({ command: "ls" })).toBeUndefined();
  });

  it("says how much of a long text is left out", () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`);
    const preview = previewCall({ content: lines.join("\n") }) ?? "";
    expect(preview.split("\n")).toHaveLength(81);
    expect(preview).toContain("… 120 lines are not shown …");
    expect(preview).toContain("+line 199");
    expect(previewCall({ content: "x".repeat(1000) })).toContain("characters are not shown");
  });
});
