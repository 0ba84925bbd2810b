import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { confirmLines, confirmPlaces } from "./confirm-files.js";
import { clipLine } from "./search-request.js";

let base: string;
let root: string;
const never = new AbortController().signal;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "confirm-")));
  root = join(base, "ws");
  await mkdir(root);
});

afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

async function isConfirmed(path: string, lines: Readonly<Record<number, string>>): Promise<boolean> {
  const given = Object.entries(lines).map(([number, text]) => ({ number: Number(number), text, isMatch: true }));
  return (await confirmLines(root, [{ path, count: given.length, lines: given }], never)).length === 1;
}

describe("[T3] what ripgrep tells of a file", () => {
  it("counts when the file holds it", async () => {
    const long = `${"x".repeat(600)}needle${"y".repeat(600)}`;
    await writeFile(join(root, "a.txt"), `\ufeffone\r\ntwo\n${long}\nlast`);
    expect(await isConfirmed("a.txt", { 1: "one", 3: clipLine(long, 600), 4: "last" })).toBe(true);
    expect(await isConfirmed("a.txt", { 1: "one", 2: "something else" })).toBe(false);
    expect(await isConfirmed("a.txt", { 3: clipLine(long.replace("needle", "secret"), 600) })).toBe(false);
    expect(await isConfirmed("a.txt", { 5: "beyond" })).toBe(false);
    expect(await isConfirmed("gone.txt", { 1: "one" })).toBe(false);
  });

  it("counts for files of several pieces as well", async () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index + 1} of a larger file`);
    const given = { 1: lines[0] ?? "", 70000: lines[69_999] ?? "", 100000: lines[99_999] ?? "" };
    await writeFile(join(root, "large.txt"), lines.join("\n"));
    await writeFile(join(root, "wide.txt"), Buffer.from(`\ufeff${lines.join("\n")}`, "utf16le"));
    for (const name of ["large.txt", "wide.txt"]) {
      expect(await isConfirmed(name, given)).toBe(true);
      expect(await isConfirmed(name, { ...given, 70000: "something else" })).toBe(false);
    }
  });

  it("does not count when it is reached through a link", async () => {
    await mkdir(join(base, "out"));
    await writeFile(join(base, "out", "secret.txt"), "secret\n");
    await symlink(join(base, "out", "secret.txt"), join(root, "file"));
    await symlink(join(base, "out"), join(root, "folder"));
    for (const path of ["file", "folder/secret.txt"]) {
      expect(await isConfirmed(path, { 1: "secret" })).toBe(false);
      expect(await confirmPlaces(root, [{ path, count: 1, lines: [] }])).toEqual([]);
    }
  });
});
