import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { HeldDirectory, openRegularFile } from "./held-directory.js";

let base: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "held-")));
  await mkdir(join(base, "ws/dir"), { recursive: true });
  await mkdir(join(base, "out"));
  await writeFile(join(base, "ws/dir/file"), "mine");
  await writeFile(join(base, "out/file"), "theirs");
});

afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

needs("linux").describe("a directory that is swapped for a link", () => {
  it("after it is held: work continues where it began", async () => {
    const held = await HeldDirectory.open(join(base, "ws/dir"), "dir");
    await rename(join(base, "ws/dir"), join(base, "ws/moved"));
    await symlink(join(base, "out"), join(base, "ws/dir"));
    await writeFile(held.at("new"), "written");
    expect(await readFile(held.at("file"), "utf8")).toBe("mine");
    expect(await readdir(held.path)).toEqual(["file", "new"]);
    await held.close();
    expect(await readdir(join(base, "out"))).toEqual(["file"]);
    expect(await readFile(join(base, "ws/moved/new"), "utf8")).toBe("written");
  });

  it("before it is held: refused, at any depth", async () => {
    await mkdir(join(base, "out/deep"));
    await rename(join(base, "ws/dir"), join(base, "ws/moved"));
    await symlink(join(base, "out"), join(base, "ws/dir"));
    await expect(HeldDirectory.open(join(base, "ws/dir"), "dir")).rejects.toThrow(/ELOOP|ENOTDIR/);
    await expect(HeldDirectory.open(join(base, "ws/dir/deep"), "deep")).rejects.toThrow(/moved or replaced/);
    const workspace = await HeldDirectory.open(join(base, "ws"), "ws");
    await expect(workspace.descend("dir", join(base, "ws/dir"), "dir")).rejects.toThrow(/ELOOP|ENOTDIR/);
    await workspace.close();
  });
});

describe("a file", () => {
  it("is opened at its path, and not through links", async () => {
    const handle = await openRegularFile(join(base, "ws/dir/file"), "file");
    expect(await handle.readFile("utf8")).toBe("mine");
    await handle.close();
    await symlink(join(base, "out/file"), join(base, "ws/link"));
    await symlink(join(base, "out"), join(base, "ws/folder"));
    await expect(openRegularFile(join(base, "ws/link"), "link")).rejects.toThrow(/symbolic link/);
    await expect(openRegularFile(join(base, "ws/folder/file"), "file")).rejects.toThrow(/moved or replaced/);
  });
});
