import { describe, expect, it } from "vitest";
import { globMatcher } from "./glob-pattern.js";

describe("globs", () => {
  it.each([
    ["*.ts", "a.ts a-b.ts .ts", "a.tsx d/a.ts a.ts/"],
    ["**/*.ts", "a.ts d/a.ts d/e/a.ts", "a.js"],
    ["src/**", "src/a src/d/e", "src srcs/a"],
    ["src/**/x", "src/x src/a/x src/a/b/x", "x src/ax"],
    ["**/b", "b a/b", "a/bc"],
    ["a?c", "abc a-c aüc", "ac a/c abbc"],
    ["[ab]x", "ax bx", "cx /x"],
    ["[!a]x", "bx", "ax /x"],
    ["[a-c-]x", "bx -x", "dx"],
    ["[]a]x", "]x ax", "bx"],
    ["*.{ts,tsx}", "a.ts a.tsx", "a.js"],
    ["{a,b/{c,d}}", "a b/c b/d", "b c"],
    ["x{,y}", "x xy", "xz"],
    ["{**/*.py,**/*.ts}", "a.py d/a.py d/e/a.ts", "a.js d/a.js"],
    ["{src/**,docs/**}", "src/a src/d/e docs/a/b", "src docs lib/a"],
    ["{a,**/b}/c", "a/c b/c d/b/c", "d/a/c"],
    ["\\*\\[\\{", "*[{", "a[{"],
    ["a.b+c(d)|^$", "a.b+c(d)|^$", "axb+c(d)|^$"],
    ["a**b", "axb ab", "a/b"],
  ])("%s", (glob, yes, no) => {
    const matcher = globMatcher(glob);
    for (const path of yes.split(" ")) expect(matcher?.test(path), path).toBe(true);
    for (const path of no.split(" ")) expect(matcher?.test(path), path).toBe(false);
  });

  it("takes no longer for a name that almost fits", () => {
    const name = "a".repeat(250);
    for (const glob of [
      `${"*a".repeat(30)}*b`,
      `**/${"*a".repeat(30)}*b`,
      `${"{a,a}".repeat(249)}b`,
      `${"**/".repeat(20)}b`,
    ])
      expect(globMatcher(glob)?.test(`${"a/".repeat(50)}${name}`)).toBe(false);
    expect(globMatcher(`${"{a,a}".repeat(250)}`)?.test(name)).toBe(true);
  });

  it.each(["[", "[a", "{a", "a}", "{a,{b}", "[b-a]", "a\\"])("%s means nothing", (glob) => {
    expect(globMatcher(glob)).toBeUndefined();
  });
});
