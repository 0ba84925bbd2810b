import { describe, expect, it } from "vitest";
import { ANY, FOLDERS, IN_NAME, namePattern, ONE_IN_NAME, type PatternPart, starPattern } from "./star-pattern.js";

describe("a pattern of stars", () => {
  it.each([
    ["*.ts", "A.TS", true],
    ["*.ts", "a.tsx", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["a?c", "a😀c", true],
    ["*", "", true],
    ["a.b", "axb", false],
    ["*(a|b)+[c]*", "x(A|B)+[C]y", true],
  ])("%j for one name, %j: %s", (glob, text, expected) => {
    expect(namePattern(glob).test(text)).toBe(expected);
  });

  it.each([
    [[FOLDERS, "a.ts"], "a.ts", true],
    [[FOLDERS, "a.ts"], "x/y/a.ts", true],
    [[FOLDERS, "a.ts"], "xa.ts", false],
    [["src/", IN_NAME, ".ts"], "src/a.ts", true],
    [["src/", IN_NAME, ".ts"], "src/a/b.ts", false],
    [["src/", ANY, ".ts"], "src/a/b.ts", true],
    [["a", ONE_IN_NAME, "b"], "a/b", false],
    [["x/", FOLDERS, "y/", FOLDERS, "z"], "x/1/y/2/3/z", true],
    [["x/", FOLDERS, "y/", FOLDERS, "z"], "x/y/z", true],
  ] satisfies readonly (readonly [readonly PatternPart[], string, boolean])[])(
    "%# for a path",
    (parts, text, expected) => {
      expect(starPattern(parts).test(text)).toBe(expected);
    },
  );

  it("is not slow for any text", () => {
    const started = process.cpuUsage().user;
    expect(namePattern(`${"*a".repeat(40)}*b`).test("a".repeat(5000))).toBe(false);
    expect((process.cpuUsage().user - started) / 1000).toBeLessThan(3000);
  });
});
