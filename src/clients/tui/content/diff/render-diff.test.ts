import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../../../test/support/thorough.js";
import { verifies } from "../../../../../test/verifies.js";
import { diffText } from "../../../../base/diff.js";
import { textWidth } from "../../../../base/text-width.js";
import { parseHunks } from "../../../sdk/shown/hunks.js";
import { createTheme, plainTheme } from "../../themes.js";
import { loadContentTools } from "../tools.js";
import { renderDiff } from "./render-diff.js";

const BEFORE = "one\ntwo\nthree\nfour\n";
const AFTER = "one\ntwo and a half\nthree\nfour\nfive  \n";

function hunksOf(before: string, after: string) {
  return parseHunks(diffText(before, after).text).hunks;
}

describe("renderDiff", () => {
  it("numbers the lines by the side that has them, and shows spaces at the end of a changed line", () => {
    expect(renderDiff(hunksOf(BEFORE, AFTER), { width: 40, theme: plainTheme })).toEqual([
      "1   one",
      "2 - two",
      "2 + two and a half",
      "3   three",
      "4   four",
      "5 + five··",
    ]);
  });

  it("is side by side if there is room, and in one column if there is not", () => {
    const hunks = hunksOf(BEFORE, AFTER);
    const wide = renderDiff(hunks, { width: 83, theme: plainTheme, layout: "split" });
    expect(wide.map((line) => line.split("│").map((half) => half.trim()))).toEqual([
      ["1   one", "1   one"],
      ["2 - two", "2 + two and a half"],
      ["3   three", "3   three"],
      ["4   four", "4   four"],
      ["", "5 + five··"],
    ]);
    expect(renderDiff(hunks, { width: 60, theme: plainTheme, layout: "split" })).toEqual(
      renderDiff(hunks, { width: 60, theme: plainTheme }),
    );
  });

  it("marks the words that differ, and none in lines that have little in common", () => {
    const theme = createTheme("dark", { colours: "16" });
    const [removed, added] = renderDiff(hunksOf("const total = 1;\n", "const sum = 1;\n"), { width: 60, theme });
    expect(removed).toContain(theme.removedWord("total"));
    expect(added).toContain(theme.addedWord("sum"));
    const rewritten = renderDiff(hunksOf("alpha beta\n", "wholly other words\n"), { width: 60, theme }).join("");
    expect(rewritten).not.toContain(theme.addedWord("x").slice(0, 4));
  });

  it("colours the code of a changed line on a background, and its changed words on a stronger one", async () => {
    const { highlighter } = await loadContentTools();
    const theme = createTheme("dark", { colours: "truecolor" });
    const hunks = hunksOf("const total = 1; // one\n", "const sum = 1; // one\n");
    const [removed = "", added = ""] = renderDiff(hunks, { width: 60, theme, highlighter: highlighter("ts") });
    const [line] = theme.addedLine(" ").split(" ");
    const [word] = theme.addedWord(" ").split(" ");
    expect(added).toContain(`${line}${theme.keyword("const")}`);
    expect(added).toContain(`${word}sum`);
    expect(removed).toContain(theme.removedWord("total").replace(/\x1b\[[\d;]*m$/, ""));
    expect([removed, added].map((each) => stripVTControlCharacters(each))).toEqual([
      "1 - const total = 1; // one",
      "1 + const sum = 1; // one",
    ]);
    const sixteen = createTheme("dark", { colours: "16" });
    const plainAdded = renderDiff(hunks, { width: 60, theme: sixteen, highlighter: highlighter("ts") })[1];
    expect(plainAdded).toContain(sixteen.added("const "));
  });

  it("cuts a long one with a count", () => {
    const after = Array.from({ length: 50 }, (_, index) => `${index}\n`).join("");
    const lines = renderDiff(hunksOf("", after), { width: 60, theme: plainTheme, maxLines: 10 });
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe("… 40 more lines");
  });

  verifies(["P13"], "shows files with control sequences, wide text and floods in both layouts", () => {
    const hostile = fc.array(
      fc.constantFrom(
        "\u001b[2J",
        "\u001b]52;c;aGk=\u0007",
        "\u202e",
        "\r",
        "\t",
        "日本",
        "x".repeat(300),
        " ",
        "a",
        "\u009b31m",
      ),
    );
    fc.assert(
      fc.property(hostile, hostile, fc.integer({ min: 1, max: 200 }), (before, after, width) => {
        for (const layout of ["unified", "split"] as const) {
          const hunks = hunksOf(before.join(""), after.join(""));
          for (const line of renderDiff(hunks, { width, theme: plainTheme, layout })) {
            expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f]| $/);
            expect(textWidth(stripVTControlCharacters(line))).toBeLessThanOrEqual(width);
          }
        }
      }),
      { numRuns: times(40, 500) },
    );
  });
});
