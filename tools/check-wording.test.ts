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
    "/** Hides secrets (P12). */",
    "/** Retries (feature M9). */",
    "/** Retries (features M9, M10). */",
  ])("finds %s in a source file", (line) => {
    expect(check({ "src/a/b.ts": `${line}\n`, "docs/a.md": "Plain words.\n" })).toHaveLength(1);
  });

  it("leaves tests, decision records and other files alone", () => {
    const text = "// Nobody asks (feature P1).\n";
    expect(
      check({ "src/a.test.ts": text, "docs/decisions/0001-a.md": text, "src/a.txt": text, "tools/a.ts": text }),
    ).toEqual([]);
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
