import { describe, expect, it } from "vitest";
import { compilePattern, type MatchUnit, PatternError, tolerantPattern } from "./rust-regex.js";

function matches(pattern: string, text: string, unit: MatchUnit = "line"): string[] {
  return [...text.matchAll(compilePattern(pattern, { unit, ignoreCase: false }))].map((match) => match[0]);
}

describe("ripgrep's expressions in JavaScript", () => {
  it.each([
    ["\\d+", "a12 ٣", ["12", "٣"]],
    ["\\w+", "naïve_1 x", ["naïve_1", "x"]],
    ["(?-u)\\w+", "naïve", ["na", "ve"]],
    ["\\bé\\w*", "été é", ["été", "é"]],
    ["(?i)ABC", "abc", ["abc"]],
    ["(?P<n>a)(?<m>b)", "ab", ["ab"]],
    ["[[:alpha:]]+[[:^digit:]]", "ab!1", ["ab!"]],
    ["[a-z&&[^aeiou]]+", "abcde", ["bcd"]],
    ["[a-z--c-d]+", "abcde", ["ab", "e"]],
    ["[]\\-]+", "]-]", ["]-]"]],
    ["[!-/&&&]", "&!", ["&"]],
    ["\\p{greek}+\\pN", "αβ1", ["αβ1"]],
    ["\\x{1f9ac}|\\u0041", "🦬A", ["🦬", "A"]],
    ["a.c", "a\rc", ["a\rc"]],
    ["function foo() {", "function foo {", ["function foo {"]],
    ["a{2}", "aa a{2}", ["aa"]],
    ["[^a]+", "ab^ca", ["b^c"]],
    ["[a^]+", "b^a", ["^a"]],
    ["[a-]+[-b]", "a-b", ["a-b"]],
    ["[\\w.]+", "a.b c", ["a.b", "c"]],
    ["[^\\d\\s]+", "a1 b", ["a", "b"]],
    ["[[:^alpha:]]", "a1", ["1"]],
    ["[^[:alpha:]x-z]+", "a1z!", ["1", "!"]],
    ["\\bfoo\\b", "foo food", ["foo"]],
    ["foo\\B", "foo food", ["foo"]],
    ["\\<o", "o to o", ["o", "o"]],
    ["o\\>", "o to on", ["o", "o"]],
    ["\\D\\W\\S", "a-b 1-b", ["a-b"]],
    ["\\pL+|\\PL", "a1", ["a", "1"]],
    ["\\p{^L}", "a1", ["1"]],
    ["\\P{^L}", "a1", ["a"]],
    ["\\t\\a\\.", "\t\u0007.", ["\t\u0007."]],
    ["\\U0001F9AC|\\x41|\\u{42}|\\x{4a}", "🦬ABJ", ["🦬", "A", "B", "J"]],
    ["(?-u:\\w)\\w", "éaé", ["aé"]],
    ["\\Aa|b\\z", "ab", ["a", "b"]],
    ["x{,3}", "x{,3}", ["x{,3}"]],
    ['\\/\\"a\\-', '/"a-', ['/"a-']],
  ])("%s", (pattern, text, expected) => {
    expect(matches(pattern, text)).toEqual(expected);
  });

  it("anchors hold at lines of a whole text, whatever its endings", () => {
    expect(matches("^b$", "a\r\nb\r\nb\nc", "text")).toEqual(["b", "b"]);
    expect(matches("a.*c", "a\nb\nc", "text")).toEqual(["a\nb\nc"]);
    expect(matches("(?-s)a.*", "ab\nc", "text")).toEqual(["ab"]);
    expect(matches("\\Aa|c\\z", "a\na\nc\nc", "text")).toEqual(["a", "c"]);
  });

  it.each([
    ["(", /not a valid regular expression/],
    ["[a", /not closed/],
    ["(?=a)", /Look-around/],
    ["(?<!a)", /Look-around/],
    ["(a)\\1", /Back-references/],
    ["a(?i)b", /"i" is not supported here/],
    ["\\y", /not a known escape/],
    ["a\\", /single "\\"/],
    ["\\p{Klingon}", /not a known Unicode property/],
    ["[[:nope:]]", /not a known character class/],
    ["a\\nb", /Set multiline/],
  ])("%s is refused with a reason", (pattern, reason) => {
    expect(() => matches(pattern, "")).toThrow(PatternError);
    expect(() => matches(pattern, "")).toThrow(reason);
  });

  it("habits of other dialects are put right for ripgrep as well", () => {
    expect(tolerantPattern("if (x) {")).toBe("if (x) \\{");
    expect(tolerantPattern("\\{a{2,3}\\}")).toBe("\\{a{2,3}\\}");
    expect(tolerantPattern("{2}|{3}")).toBe("\\{2\\}|\\{3\\}");
    expect(tolerantPattern("\\p{L}\\x{41}\\/\\\\{")).toBe("\\p{L}\\x{41}/\\\\\\{");
    expect(tolerantPattern("(?<n>a)(?<=b)")).toBe("(?P<n>a)(?<=b)");
  });
});
