import { describe, expect, it } from "vitest";
import { FoundFiles } from "./found-files.js";
import { clipLine, comparePaths, isClipOf, MAX_LINE_CHARACTERS } from "./search-request.js";

const file = (path: string, count = 1) => ({ path, count, lines: [] });

describe("[T1] findings", () => {
  it("are the first by path, whatever their order, with the totals of all", () => {
    const paths = Array.from({ length: 500 }, (_, at) => `f${String(at).padStart(3, "0")}`);
    for (const order of [paths, paths.toReversed(), paths.map((_, at) => paths[(at * 7) % 500] as string)]) {
      const found = new FoundFiles({ mode: "files", limit: 3 });
      for (const path of order) found.add(file(path, 2));
      expect(found.totalCount).toBe(1000);
      expect(found.findings()).toEqual({
        ...{ files: ["f000", "f001", "f002"].map((path) => file(path, 2)), totalFiles: 500, totalCount: 1000 },
        isPartial: false,
      });
    }
  });

  it("are counted by lines where lines are shown; the last file may exceed the limit", () => {
    const found = (mode: "content" | "count") => {
      const files = new FoundFiles({ mode, limit: 3 });
      for (const path of ["d", "c", "b", "a"]) files.add(file(path, 2));
      return files.findings().files.map(({ path }) => path);
    };
    expect([found("content"), found("count")]).toEqual([
      ["a", "b"],
      ["a", "b", "c"],
    ]);
    const huge = new FoundFiles({ mode: "content", limit: 3 });
    huge.add(file("b"));
    huge.add(file("a", 1_000));
    expect(huge.findings().files.map(({ path }) => path)).toEqual(["a"]);
  });

  it("hide what is withheld completely, and settle what is doubtful", async () => {
    const found = new FoundFiles(
      { mode: "files", limit: 9 },
      { isWithheld: (path) => path === "secret", isDoubtful: (path) => path.startsWith("link") },
    );
    for (const path of ["secret", "plain", "link-good", "link-bad"]) found.add(file(path, 5));
    expect(found.totalCount).toBe(15);
    await found.settle(async (path) => path === "link-good");
    await found.settle(async () => true);
    expect(found.findings()).toMatchObject({ totalFiles: 2, totalCount: 10 });
    expect(found.findings().files.map(({ path }) => path)).toEqual(["link-good", "plain"]);
  });

  it("are partial after a new start", async () => {
    const found = new FoundFiles({ mode: "files", limit: 1 }, { isDoubtful: (path) => path === "x" });
    for (const path of ["a", "b", "x"]) found.add(file(path));
    found.findings();
    found.startOver();
    await found.settle(async () => true);
    found.add(file("c"));
    expect(found.findings()).toEqual({ files: [file("c")], totalFiles: 1, totalCount: 1, isPartial: true });
  });
});

it("[T1] paths are in the order of a tree", () => {
  const sorted = ["a", "a/b", "a/b/c", "a/c", "a b", "a-b", "a.b", "ab", "b"];
  expect(sorted.toReversed().sort(comparePaths)).toEqual(sorted);
  expect(comparePaths("a", "a")).toBe(0);
});

describe("[T1] a long line", () => {
  const long = (length: number, mark = 0) => `${"x".repeat(mark)}HIT${"y".repeat(length - mark - 3)}`;
  it.each([
    [400, 0, long(400)],
    [401, 0, `${long(401).slice(0, 400)}… [401 characters]`],
    [1000, 100, `${long(1000, 100).slice(0, 400)}… [1000 characters]`],
    [1000, 101, `…${long(1000, 101).slice(1, 401)}… [1000 characters]`],
    [1000, 997, `…${long(1000, 997).slice(600)}`],
  ])("of %i characters with its match at %i", (length, at, expected) => {
    const line = long(length, at);
    expect(clipLine(line, at)).toBe(expected);
    expect(isClipOf(expected, line)).toBe(true);
    expect(isClipOf(expected.replace("HIT", "HAT"), line)).toBe(false);
  });

  it("is not cut within a character", () => {
    const pairs = "🦬".repeat(400);
    expect(clipLine(pairs, 301)).toBe(`…${pairs.slice(202, 600)}… [800 characters]`);
    expect(clipLine(`x${"🦬".repeat(300)}`, 0)).toBe(`x${"🦬".repeat(199)}… [601 characters]`);
    expect(isClipOf("short", "short")).toBe(true);
    expect(isClipOf("hor", "short")).toBe(false);
    expect(MAX_LINE_CHARACTERS).toBe(400);
  });
});
