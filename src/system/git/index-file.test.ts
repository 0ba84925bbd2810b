import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { parseIndex } from "./index-file.js";

const folder = mkdtempSync(join(tmpdir(), "index-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function indexOf(format: "sha1" | "sha256", version: number): Buffer {
  const place = join(folder, `${format}-${version}`);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: place, stdio: "pipe" });
  execFileSync("git", ["init", "-q", `--object-format=${format}`, place]);
  writeFileSync(join(place, "abc"), "");
  writeFileSync(join(place, "d".repeat(200)), "");
  git("add", ".");
  const hash = "1".repeat(format === "sha1" ? 40 : 64);
  git("update-index", "--add", "--cacheinfo", `160000,${hash},lib`);
  git("update-index", `--index-version=${version}`);
  return readFileSync(join(place, ".git/index"));
}

it.each([
  ["sha1", 2],
  ["sha1", 4],
  ["sha256", 2],
  ["sha256", 4],
] as const)("finds the repositories of an index with %s, version %d", (format, version) => {
  expect(parseIndex(indexOf(format, version))?.repositories).toEqual(["lib"]);
});

it.each([2, 4])(
  "does not understand paths whose length says otherwise, which git reads differently: version %d",
  (version) => {
    const bytes = indexOf("sha1", version);
    const flagsAt = 12 + 40 + 20;
    expect(bytes.readUInt16BE(flagsAt) & 0xfff).toBe("abc".length);
    for (const length of [0, 2, 4, 0xfff]) {
      bytes.writeUInt16BE(length, flagsAt);
      expect([length, parseIndex(bytes)]).toEqual([length, undefined]);
    }
  },
);
