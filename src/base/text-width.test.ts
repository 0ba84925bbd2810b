import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { safeText } from "./terminal-text.js";
import { padText, textWidth, truncateText, wrapText } from "./text-width.js";

/** Text as it reaches these functions, with what makes widths hard. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 12 }),
      fc.constantFrom(" ", "  ", "word", "世界", "👩‍👩‍👧", "🇩🇪", "é", "👍🏽", "한국", "ﬀ", "\t", "क्षि"),
    ),
    { maxLength: 20 },
  )
  .map((parts) => safeText(parts.join("")));

describe("textWidth", () => {
  it.each([
    ["plain", 5],
    ["世界", 4],
    ["ｱ", 1],
    ["Ａ", 2],
    ["é", 1],
    ["한", 2],
    ["👍🏽", 2],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["☃", 1],
    ["✈️", 2],
    ["␛", 1],
    ["", 0],
  ])("counts the cells of %j", (sample, cells) => {
    expect(textWidth(sample)).toBe(cells);
  });
});

describe("long texts", () => {
  it("are counted correctly if a character spans two windows", () => {
    for (const character of ["👩‍👩‍👧", "🇩🇪", "e\u0301", "한", "क्षि"]) {
      for (let before = 500; before < 516; before++) {
        const long = `${"x".repeat(before)}${character.repeat(3)}${"世".repeat(600)}`;
        expect(textWidth(long)).toBe(before + 3 * textWidth(character) + 1200);
      }
    }
  });

  it("take time in proportion to their length", () => {
    const lines = wrapText("日本語の長い文章".repeat(50_000), 100);
    expect(lines).toHaveLength(8000);
    expect(wrapText("👩‍👩‍👧é".repeat(20_000), 100)).toHaveLength(607);
  });
});

describe("truncateText", () => {
  it("keeps what fits and marks what does not", () => {
    expect(truncateText("abc", 3)).toBe("abc");
    expect(truncateText("abcd", 3)).toBe("ab…");
    expect(truncateText("世界人", 4)).toBe("世…");
    expect(truncateText("abc", 1)).toBe("…");
    expect(truncateText("abc", 0)).toBe("");
  });

  it("never takes more cells than it was given", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 30 }), (sample, width) => {
        expect(textWidth(truncateText(sample, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe("padText", () => {
  it("fills by cells, on the requested side", () => {
    expect(padText("世", 4)).toBe("世  ");
    expect(padText("7", 3, "right")).toBe("  7");
    expect(padText("longer", 3)).toBe("longer");
  });
});

describe("wrapText", () => {
  it("breaks at spaces, and long words anywhere", () => {
    expect(wrapText("the quick brown fox", 9)).toEqual(["the quick", "brown fox"]);
    expect(wrapText("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
    expect(wrapText("a bcdefghij", 4)).toEqual(["a", "bcde", "fghi", "j"]);
    expect(wrapText("世界 世界世界", 6)).toEqual(["世界", "世界世", "界"]);
    expect(wrapText("日本語を", 5)).toEqual(["日本", "語を"]);
  });

  it("keeps empty lines and indentation", () => {
    expect(wrapText("a\n\n  b", 10)).toEqual(["a", "", "  b"]);
    expect(wrapText("    abcdef", 6)).toEqual(["    ab", "cdef"]);
  });

  it("expands tabs to columns", () => {
    expect(wrapText("a\tb\t世\tc", 40)).toEqual(["a   b   世  c"]);
  });

  it("never makes a line too wide and loses nothing but spaces", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 30 }), (sample, width) => {
        const lines = wrapText(sample, width);
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
        const letters = (value: string) => value.replaceAll(/\s/g, "");
        if (!lines.join("").includes("?")) expect(letters(lines.join(""))).toBe(letters(sample));
      }),
    );
  });

  it("shows something even in one column", () => {
    expect(wrapText("世a", 1)).toEqual(["?", "a"]);
  });
});
