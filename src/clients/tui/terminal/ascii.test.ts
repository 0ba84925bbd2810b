import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { textWidth } from "../../../base/text-width.js";
import { renderBlock } from "../content/render-block.js";
import { NOW, SAMPLES } from "../content/samples.testkit.js";
import { DIALOGS } from "../dialogs/samples.testkit.js";
import { plainTheme } from "../themes.js";
import { asciiText } from "./ascii.js";

describe("text for a terminal of ASCII", () => {
  verifies(["U2"], "has nothing else, in the same cells", () => {
    for (const text of [
      "│ ✓ done · 3 files …",
      "café naïve Ø",
      "日本語 x",
      "👨‍👩‍👧 e\u0301",
      "\u001b[1m● ok\u001b[0m",
      "",
    ]) {
      const shown = asciiText(text);
      expect(shown).toMatch(/^[\x00-\x7f]*$/);
      expect(textWidth(shown.replaceAll(/\u001b\[\d*m/g, ""))).toBe(textWidth(text.replaceAll(/\u001b\[\d*m/g, "")));
    }
    expect(asciiText("café · ✓ 日")).toBe("cafe - + ??");
  });

  it("keeps the marks of tools apart", () => {
    const marks = [..."●✓✗⊘–"].map(asciiText);
    expect(new Set(marks).size).toBe(marks.length);
  });

  it("knows every mark of the blocks and the dialogs, at every size", () => {
    const dialogs = [
      [120, 40],
      [80, 24],
      [40, 20],
    ].flatMap(([columns = 0, rows = 0]) =>
      Object.values(DIALOGS).map((shown) => JSON.stringify(shown({ columns, rows }))),
    );
    const own = Object.entries(SAMPLES).flatMap(([name, block]) =>
      name === "answer" ? [] : renderBlock(block, { width: 80, theme: plainTheme, expanded: false, now: NOW }),
    );
    // Letters, and the pictures of control characters, may be question marks.
    const unknown = [...own.concat(dialogs).join("")].filter(
      (each) => each > "\x7f" && /\?/.test(asciiText(each)) && !/[\p{L}\u2400-\u2421]/u.test(each),
    );
    expect(unknown).toEqual([]);
  });
});
