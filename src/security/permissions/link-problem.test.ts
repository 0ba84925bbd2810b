import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diskLinks } from "./disk-links.js";
import { readCommand } from "./read-command.js";

let base: string;
let workspace: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "links-")));
  workspace = join(base, "work");
  for (const folder of ["work/docs", "work/clean", "other/deep"]) mkdirSync(join(base, folder), { recursive: true });
  for (const file of ["work/a.txt", "work/.env", "work/clean/b.txt", "other/secret", "other/deep/x"]) {
    writeFileSync(join(base, file), "");
  }
  symlinkSync("../../other/secret", join(workspace, "docs/notes.md"));
  symlinkSync("../other/deep", join(workspace, "out"));
  symlinkSync("../.env", join(workspace, "docs/settings"));
  symlinkSync("a.txt", join(workspace, "also-a"));
  symlinkSync("nowhere", join(workspace, "broken"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const verdict = (text: string) => {
  const { verdict: whole, reason } = readCommand(text, { workspace, links: diskLinks });
  return whole === "read-only" ? whole : reason;
};

describe("[P3] a command that only reads", () => {
  it.each([
    ["cat docs/notes.md", "other/secret"],
    ["cat <docs/notes.md", "other/secret"],
    ["wc -l a.txt docs/notes.md", "other/secret"],
    ["ls && head -1 docs/notes.md", "other/secret"],
    ["cat docs/*", "other/secret"],
    ["cat docs/n*", "other/secret"],
    ["cd out && ls", "other/deep"],
    ["cat out/../secret", "other/secret"],
    ["cat out/x", "other/deep/x"],
    ["cat docs/settings", ".env"],
    ["grep -c --file=docs/notes.md x", "other/secret"],
    ["[ -f docs/notes.md ]", "other/secret"],
  ])("asks when a link leads it away: %s", (text, target) => {
    expect(verdict(text)).toContain(join(target));
    expect(readCommand(text, { workspace }).verdict).toBe("read-only");
  });

  it.each([
    "cat a.txt also-a",
    "cat broken",
    "ls docs",
    "cat clean/*",
    "grep -r notes clean",
    "cat /dev/null",
    "echo docs",
  ])("does not ask otherwise: %s", (text) => expect(verdict(text)).toBe("read-only"));
});
