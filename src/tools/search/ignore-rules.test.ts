import { describe, expect, it } from "vitest";
import { IGNORE_FILES, IgnoreScope, parseIgnoreFile } from "./ignore-rules.js";

const scope = (rules: Partial<Record<(typeof IGNORE_FILES)[number], string>>, more: object = {}) =>
  new IgnoreScope({
    name: "top",
    isRepository: false,
    rules: Object.fromEntries(Object.entries(rules).map(([name, text]) => [name, parseIgnoreFile(text)])),
    ...more,
  });

describe("[T1] a line of an ignore file", () => {
  it.each([
    ["a.log", "a.log", "file", true],
    ["a.log", "b.log", "file", false],
    ["*.log", "a.log", "file", true],
    ["\ufeff*.log", "a.log", "file", true],
    ["*.log\r", "a.log", "file", true],
    ["*.log  ", "a.log", "file", true],
    ["#a", "#a", "file", false],
    ["\\#a", "#a", "file", true],
    ["", "", "file", false],
    ["/", "a", "file", false],
    ["!", "a", "file", false],
    ["build/", "build", "folder", true],
    ["build/", "build", "file", false],
    ["/a", "a", "file", true],
    ["a\n!a", "a", "file", false],
    ["!a\na", "a", "file", true],
    ["a\n!a/", "a", "file", true],
    ["x/**", "x", "folder", false],
  ] as const)("%j on %s, a %s %s: %s", (text, name, kind, ignored) => {
    expect(scope({ ".gitignore": text }).ignores(name, kind)).toBe(ignored);
  });
});

describe("[T1] ignore files of several folders", () => {
  const inside = (parent: IgnoreScope, rules: Parameters<typeof scope>[0] = {}, more: object = {}) =>
    scope(rules, { parent, name: "sub", ...more });

  it("apply below their folder, by the path from there", () => {
    const top = scope({ ".gitignore": "a\n/b\nsub/c\nx/**" });
    expect(["a", "b", "c", "d"].map((name) => inside(top).ignores(name, "file"))).toEqual([true, false, true, false]);
    const deep = inside(inside(top, {}, { name: "x" }), {}, { name: "y" });
    expect(deep.ignores("file", "file")).toBe(true);
  });

  it("the nearest with a matching pattern decides", () => {
    const top = scope({ ".gitignore": "a\nb" });
    const near = inside(top, { ".gitignore": "!a" });
    expect([near.ignores("a", "file"), near.ignores("b", "file")]).toEqual([false, true]);
  });

  it("the stronger kind decides, wherever it is", () => {
    const names = IGNORE_FILES.toReversed();
    expect(names).toEqual([".gitignore", ".ignore", ".rgignore"]);
    for (const [at, weak] of names.entries()) {
      for (const strong of names.slice(at + 1)) {
        const near = inside(scope({ [strong]: "!a\nb" }), { [weak]: "a\n!b" });
        expect([near.ignores("a", "file"), near.ignores("b", "file")], `${weak} ${strong}`).toEqual([false, true]);
      }
    }
  });

  it("of git above a repository do not apply in it; the others do", () => {
    const top = scope({ ".gitignore": "a\nc", ".ignore": "b" });
    const repository = inside(top, { ".gitignore": "d" }, { isRepository: true });
    expect(["a", "b", "d"].map((name) => repository.ignores(name, "file"))).toEqual([false, true, true]);
    expect(inside(repository).ignores("a", "file")).toBe(false);
    expect(inside(repository).ignores("d", "file")).toBe(true);
    expect(scope({ ".gitignore": "c" }, { isRepository: true }).ignores("c", "file")).toBe(true);
  });
});
