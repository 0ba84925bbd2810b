import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fingerprint, occurrences } from "./fingerprint.js";

/** Returns what each character of a fingerprint stands for in its source. */
function rangesOf(source: string): readonly string[] {
  const { text, starts, ends } = fingerprint(source);
  return [...text].map((_, at) => source.slice(starts[at], ends[at]));
}

const KEPT: readonly (readonly [string, string])[] = [
  ["", ""],
  ["a b", "a b"],
  ["a \t b", "a b"],
  ["a\u00a0b", "a b"],
  ["a = b", "a=b"],
  ["f (x)", "f(x)"],
  ["$a _b 9", "$a _b 9"],
  ["@ a", "@a"],
  ["[ a", "[a"],
  ["` {", "'{"],
  ["z A Z 0", "z A Z 0"],
  ["  a  \n\n  b  ", "a\nb"],
  ["\n\na\n", "a"],
  ["a\r\nb\rc", "a\nb\nc"],
  ["a\vb\fc", "a b c"],
  ["a;\nb,\nc;,", "a\nb\nc"],
  ["a\n;\nb", "a\n;\nb"],
  ["a\n,;\nb", "a\n,\nb"],
  [";", ";"],
  ["a ;b", "a;b"],
  [`"a" \`b\` 'c'`, "'a''b''c'"],
  ["“a” «b»", "'a''b'"],
  ["a – b — c", "a-b-c"],
  ["\\\\n", ""],
  ["a\\nb", "a\nb"],
  ["a\\rb", "a\nb"],
  ["a\\tb", "a b"],
  ["a\\\\\\tb", "a b"],
  ['\\"a\\"', "'a'"],
  ["a\\", "a"],
  ["a\\\nb", "a\nb"],
  ["\\é", "e\u0301"],
  ["ﬁx", "fix"],
  ["a\u200bb", "ab"],
  ["😀 x", "😀 x"],
  ["가", "\u1100\u1161"],
];

describe("a fingerprint", () => {
  it.each(KEPT)("of %j is %j", (source, text) => {
    expect(fingerprint(source).text).toBe(text);
  });

  it.each([
    ["a \t b", ["a", " \t ", "b"]],
    ["a\\tb", ["a", "\\t", "b"]],
    ["a \\t b", ["a", " \\t ", "b"]],
    [" x\n\n y", ["x", "\n", "y"]],
    ["a \n b c", ["a", "\n", "b", " ", "c"]],
    ["x\\ny", ["x", "\\n", "y"]],
    ['\\"x', ['\\"', "x"]],
    ["é\u0323x", ["é\u0323", "é\u0323", "é\u0323", "x"]],
    ["ﬁx", ["ﬁ", "ﬁ", "x"]],
    ["\\éx", ["\\é", "\\é", "x"]],
  ])("of %j knows the range of each character", (source, ranges) => {
    expect(rangesOf(source)).toEqual(ranges);
  });

  it("has room for compatibility forms that are longer than their characters", () => {
    const source = "\ufdfa".repeat(40);
    const { text, starts, ends } = fingerprint(source);
    expect(text).toBe("\ufdfa".normalize("NFKD").replaceAll(" ", " ").repeat(40));
    expect([starts[0], ends[0], starts.at(-1), ends.at(-1)]).toEqual([0, 1, 39, 40]);
  });

  it("has ranges in the order of the source, within it, and as many as characters", () => {
    const piece = fc.constantFrom(
      ..."ab9$_ \t\n\r;,'\"`\\nt-–“ﬁé\u0301\u200b😀漢".split(""),
      "\\n",
      "\\t",
      "😀",
      "e\u0301",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const source = pieces.join("");
        const { text, starts, ends } = fingerprint(source);
        expect([starts.length, ends.length]).toEqual([text.length, text.length]);
        for (let at = 0; at < text.length; at++) {
          expect(starts[at]).toBeLessThan(ends[at] as number);
          expect(ends[at]).toBeLessThanOrEqual(source.length);
          if (at > 0) expect(starts[at]).toBeGreaterThanOrEqual(starts[at - 1] as number);
        }
        expect(fingerprint(`  ${source.replaceAll("\n", "  \n\n")}  `).text).toBe(fingerprint(source).text);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the places of a text in another", () => {
  const found = (whole: string, part: string) => occurrences(fingerprint(whole), fingerprint(part));

  it.each([
    ["a b a", "a", { places: [0, 4], halfway: [] }],
    ["aaa", "a", { places: [], halfway: [0, 1, 2] }],
    ["((((", "((", { places: [0, 1, 2], halfway: [] }],
    ["cat concat", "cat", { places: [0], halfway: [7] }],
    ["concat cats", "cat", { places: [], halfway: [3, 7] }],
    ["ﬁ x", "f", { places: [], halfway: [0] }],
    ["漢字", "字", { places: [1], halfway: [] }],
    ["abc", "", { places: [], halfway: [] }],
    ["abc", "d", { places: [], halfway: [] }],
  ])("in %j of %j", (whole, part, places) => {
    expect(found(whole, part)).toEqual(places);
  });
});
