import { describe, expect, it } from "vitest";
import { backslashes, readings } from "./escapes.js";

/** Tells what the edit of this line may mean, without its literal meaning: `OLD → NEW`. */
function meanings(actual: string, old: string, fresh: string): readonly string[] {
  const [literal, ...rest] = readings({ old, new: fresh }, actual);
  expect(literal).toEqual({ old, new: fresh });
  return rest.map((reading) => `${reading.old} → ${reading.new ?? "?"}`);
}

describe("[T1] what a quotation with backslashes may mean", () => {
  it.each([
    ["nothing else without backslashes", 'a("b")', 'a("b")', 'a("c")', []],
    ["unescaped quotes, in both texts", 'a("b")', 'a(\\"b\\")', 'a(\\"c\\")', ['a("b") → a("c")']],
    ["a new text without backslashes is meant as it is", 'a("b")', 'a(\\"b\\")', "c()", ['a("b") → c()']],
    [
      "a new text with plain quotes is literal, with its own sequences",
      'a("b")',
      'a(\\"b\\")',
      'a("c\\n")',
      ['a("b") → a("c\\n")'],
    ],
    [
      "quotes alone, or line breaks too",
      'a("b");\nc();',
      'a(\\"b\\");\\nc();',
      'd(\\"b\\");\\nc();',
      ['a("b");\\nc(); → ?', 'a("b");\nc(); → d("b");\nc();'],
    ],
    ["not known: a sequence that the quotation has not", 'a("b")', 'a(\\"b\\")', 'a(\\"\\t\\")', ['a("b") → ?']],
    ["not known: a quote behind escaped backslashes", 'a("b")', 'a(\\"b\\")', 'a(\\\\"c\\\\")', ['a("b") → ?']],
    [
      "a line that stays shows that the new text is escaped, too",
      "a('\t');",
      "a('\\t');",
      "a('\\t');\nb('\\t');",
      ["a('\t'); → a('\t');\nb('\t');"],
    ],
    [
      "not known: a doubled backslash that is no nearer to the file",
      "p = 'C:\\dir'",
      "p = 'C:\\\\dir'",
      "p = 'C:\\\\home'",
      ["p = 'C:\\dir' → ?"],
    ],
    ["a doubled backslash that is nearer to the file without", "a\\b", "a\\\\b", "a\\\\b + c", ["a\\b → a\\b + c"]],
    ["not known: one more line with a doubled backslash", "a\\b", "a\\\\b", "a\\\\b + c\nx\\\\y", ["a\\b → ?"]],
    [
      "a doubled backslash, and a literal new text",
      "p = 'C:\\dir'",
      "p = 'C:\\\\dir'",
      "p = 'C:\\home'",
      ["p = 'C:\\dir' → p = 'C:\\home'"],
    ],
  ] as const)("%s", (_, actual, old, fresh, expected) => {
    expect(meanings(actual, old, fresh)).toEqual(expected);
  });

  it("compares the backslashes of two texts", () => {
    expect(backslashes("a\\d+ \\\\ b\\")).toBe("\\d \\\\ \\");
    expect(backslashes("none")).toBe("");
  });
});
