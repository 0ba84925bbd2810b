import { describe, expect, it } from "vitest";
import {
  joinedText,
  parseCommandOutput,
  parseCounts,
  parseFileText,
  parseFolderListing,
  parseMatches,
  parsePaths,
} from "./outputs.js";

describe("what grep and glob answer", () => {
  it("is read as counts", () => {
    expect(parseCounts("a.ts:3\nb:2.ts:1")).toEqual({
      files: [
        { path: "a.ts", count: 3 },
        { path: "b:2.ts", count: 1 },
      ],
    });
    expect(parseCounts("No matches.")).toEqual({ files: [] });
    expect(parseCounts("a.ts:3\n\n[The first 1 of 1,234 files. Narrow it.]")).toEqual({
      files: [{ path: "a.ts", count: 3 }],
      cut: { total: 1_234 },
    });
  });

  it("is read as paths", () => {
    expect(parsePaths("a.ts\n[id].tsx\n")).toEqual({ paths: ["a.ts", "[id].tsx"] });
    expect(parsePaths("a.ts\n[1,120 more files not shown. Use a narrower pattern.]")).toEqual({
      paths: ["a.ts"],
      cut: { total: 1_121 },
    });
    expect(parsePaths("No file matches **/*.x.")).toEqual({ paths: [] });
    expect(parsePaths("a\n[… 5,000 characters cut here: ask for less …]\nz")).toEqual({ paths: ["a", "z"], cut: {} });
  });

  it("is read as lines by file", () => {
    const text =
      "a.ts\n1:one: two\n20:\n\nb.ts\n3:[The first of all]\n\n[The first 3 of 40 matching lines in 12 files. Narrow it.]";
    expect(parseMatches(text)).toEqual({
      files: [
        {
          path: "a.ts",
          lines: [
            { line: 1, text: "one: two" },
            { line: 20, text: "" },
          ],
        },
        { path: "b.ts", lines: [{ line: 3, text: "[The first of all]" }] },
      ],
      cut: { total: 40, totalFiles: 12 },
    });
    expect(parseMatches("a\n1:x\n\n[The first 1 of more than 20,000 matching lines. Narrow it.]").cut).toEqual({});
  });
});

describe("what read answers", () => {
  it("is a whole file only without notes", () => {
    const whole = parseFileText("1\tone\n2\t\n3\t[Lines 1-2 of 9. x]");
    expect(whole).toMatchObject({ whole: true, totalLines: 3 });
    expect(joinedText(whole)).toBe("one\n\n[Lines 1-2 of 9. x]");
    expect(parseFileText("1\tone\n[Lines 1-1 of 2,000. Continue with offset 2.]")).toMatchObject({
      whole: false,
      totalLines: 2_000,
    });
    expect(parseFileText("1\tone\n[Lines 1-1 of a file of 9 MB. Continue.]")).toMatchObject({ whole: false });
    expect(parseFileText("1\tone\n[1 line cut at 2000 characters. Use grep.]")).toMatchObject({
      whole: false,
      linesCut: true,
    });
    expect(parseFileText("5\tfive")).toMatchObject({ whole: false });
  });

  it("may be no text at all", () => {
    expect(parseFileText("a.txt is empty.")).toEqual({ lines: [], totalLines: 0, whole: true, linesCut: false });
    expect(parseFileText("a.png (image/png, 12 KB)")).toMatchObject({
      notText: "a.png (image/png, 12 KB)",
      whole: false,
    });
  });
});

describe("what ls answers", () => {
  it("is read as a tree", () => {
    const listing = parseFolderListing(
      "src/\n  deep/\n    a.ts\n  b.ts\nlib/ (ignored)\nlink -> src\n[12 more entries not shown. Use glob.]",
    );
    expect(listing.entries.map(({ path, kind, depth }) => [path, kind, depth])).toEqual([
      ["src", "folder", 1],
      ["src/deep", "folder", 2],
      ["src/deep/a.ts", "file", 3],
      ["src/b.ts", "file", 2],
      ["lib", "folder", 1],
      ["link", "other", 1],
    ]);
    expect(listing.entries[4]?.closed).toBe("ignored");
    expect(listing.leftOut).toBe(12);
    expect(parseFolderListing("src is empty.").entries).toEqual([]);
  });
});

describe("what a command answers", () => {
  const parse = (text: string, failed: boolean) => parseCommandOutput({ tool: "bash", args: {}, text, failed });

  it("is its output and how it ended", () => {
    expect(parse("hi", false)).toMatchObject({ output: "hi", exitCode: 0, ended: "exit", cut: false });
    expect(parse("(no output)", false)).toMatchObject({ output: "", exitCode: 0 });
    expect(parse("hi\n[exit code 3]", true)).toMatchObject({ output: "hi", exitCode: 3 });
    expect(parse("[exit code 137 (SIGKILL)]", true)).toMatchObject({ output: "", exitCode: 137 });
    expect(parse("x\n[timed out after 5m and was killed; set a longer timeout]", true)).toMatchObject({
      ended: "stopped",
    });
    expect(
      parse("x\n[exit code 1]\n[2 processes were still running and ended with the command; use y]", true),
    ).toMatchObject({
      output: "x",
      exitCode: 1,
      ending: "exit code 1; 2 processes were still running and ended with the command; use y",
    });
    expect(parse("There is no shell on this machine.", true)).toMatchObject({ ended: "not-started" });
  });

  it("is cut at the position in the note", () => {
    expect(parse("a\n[… 1,000 bytes left out here; all of it is in x …]\nb", false).cut).toBe(true);
  });
});
