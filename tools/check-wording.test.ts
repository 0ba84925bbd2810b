import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { checkWording, formatFinding } from "./check-wording/check.mjs";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function check(files: Record<string, string>, notYetCovered: readonly string[] = []): string[] {
  const root = mkdtempSync(join(tmpdir(), "oxbow-wording-"));
  folders.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return checkWording(root, notYetCovered).map(formatFinding);
}

describe("the check of wording", () => {
  it("names the phrase, its place and the wording to use", () => {
    expect(check({ "README.md": "One.\nA session can be gone on with.\n" })).toEqual([
      'README.md:2 "gone on with" — say resume or continue',
    ]);
  });

  it.each([
    "// Whoever asks.",
    "// Nobody asks.",
    "// somebody else",
    "// what is said",
    "// It goes on with it.",
    "// 30 unless told",
    "// a summary in the place of the beginning",
    "// as it likes",
    "// silence is a no",
    "// everybody sees it",
    "// Anybody may read it.",
    "// commands that run unasked",
    "// The provider's name, unless given.",
    "// It waits for ever.",
    "// The caller is told.",
    "// a model that cannot be had",
    "// A closed pipe is no error.",
    "// reached by way of a link",
    "// The session was passed over.",
    "// It waits as long as it takes.",
    "// The answer broke off.",
    "// built first if need be",
    "// It waits in vain.",
    "// That is its own affair.",
    "// the begin of the line",
    "// It works all the same.",
    "// A draft is of no use then.",
    "// all types when not given",
    "// run in place of the original",
    "// The process has surely ended.",
    "/** Hides secrets (P12). */",
    "/** Retries (feature M9). */",
    "/** Retries (features M9, M10). */",
  ])("finds %s in a source file", (line) => {
    expect(check({ "src/a/b.ts": `${line}\n`, "docs/a.md": "Plain words.\n" })).toHaveLength(1);
  });

  it("finds a doc comment that begins with a question word", () => {
    const lines = ["/** Whether it ends. */", "/** Tells whether it ends. */", "// What follows is data."].join("\n");
    expect(check({ "src/a/b.ts": lines, "test/a.test.ts": lines, "src/clients/tui/a.ts": lines })).toHaveLength(2);
  });

  it("leaves decision records and other files alone", () => {
    const text = "// Nobody asks (feature P1).\n";
    expect(check({ "docs/decisions/0001-a.md": text, "src/a.txt": text, "other/a.ts": text })).toEqual([]);
  });

  it("covers tools, assets and test support", () => {
    const text = "// Nobody asks.\n";
    expect(check({ "tools/a.mjs": text, "assets/a.md": text, "test/support/a.ts": text })).toHaveLength(3);
  });

  it("reads comments and titles of tests, but not their data", () => {
    const lines = [
      '  it("waits for nobody", () => {});',
      '  verifies(["P1"], "is told", async () => {});',
      '    "a title that nobody reads on one line",',
      "  // Nobody asks (P1).",
      '  expect(find("nobody")).toBeUndefined();',
      '    "nobody",',
    ];
    expect(check({ "src/a.test.ts": lines.join("\n") })).toHaveLength(4);
  });

  it("skips the folders that are listed as not yet covered", () => {
    const files = { "src/old/a.ts": "// Nobody.\n", "src/older/a.ts": "// Nobody.\n" };
    expect(check(files, ["old"])).toHaveLength(1);
  });

  it("leaves ordinary words and names alone", () => {
    const lines = [
      "// There is no error then.",
      'const name = "PROGRAMFILES(X86)";',
      "readonly unasked?: true;",
      "// unless the user says so",
    ];
    expect(check({ "src/a/b.ts": lines.join("\n") })).toEqual([]);
  });

  it("allows ids of features in documentation", () => {
    expect(check({ "docs/a.md": "See feature P1.\n" })).toEqual([]);
  });
});
