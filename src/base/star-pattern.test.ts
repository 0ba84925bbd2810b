import { describe, expect, it } from "vitest";
import { ANY, FOLDERS, IN_NAME, namePattern, ONE, ONE_IN_NAME, type PatternPart, starPattern } from "./star-pattern.js";

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

  it("matches the same with few stars, as a regular expression, and with many", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const someParts = (depth: number): PatternPart[] => Array.from({ length: 1 + random(4) }, () => somePart(depth));
    const somePart = (depth: number): PatternPart => {
      const simple: readonly PatternPart[] = ["a", "b/", ".", ANY, IN_NAME, ONE, ONE_IN_NAME, FOLDERS];
      const set: PatternPart = { negated: random(2) === 0, ranges: [["a", random(2) === 0 ? "a" : "z"]] };
      if (depth > 0 && random(5) === 0) return [someParts(depth - 1), someParts(depth - 1), []];
      return random(5) === 0 ? set : (simple[random(simple.length)] ?? "a");
    };
    let matches = 0;
    for (let round = 0; round < 3000; round++) {
      const parts = someParts(1);
      const text = Array.from({ length: random(6) }, () => ["a", "b", "/", ".", "😀"][random(5)]).join("");
      // The second branch matches no such text, and has too many stars for a regular expression.
      const slow = starPattern([[parts, [ANY, ANY, "\0"]]]);
      expect([parts, text, slow.test(text)]).toEqual([parts, text, starPattern(parts).test(text)]);
      if (slow.test(text)) matches += 1;
    }
    expect(matches).toBeGreaterThan(300);
  });

  it("is not slow for any text", () => {
    const started = process.cpuUsage().user;
    expect(namePattern(`${"*a".repeat(40)}*b`).test("a".repeat(5000))).toBe(false);
    expect((process.cpuUsage().user - started) / 1000).toBeLessThan(3000);
  });
});
