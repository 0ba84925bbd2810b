import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asOrdinaryUser } from "../../test/support/ordinary-user.js";
import { writeFileAtomic } from "./atomic-file.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "atomic-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("writeFileAtomic", () => {
  it("creates and replaces, and leaves nothing else behind", async () => {
    const path = join(folder, "a");
    await writeFileAtomic(path, "one");
    await writeFileAtomic(path, Buffer.from("two"), { flush: "file-and-folder" });
    expect(await readFile(path, "utf8")).toBe("two");
    expect(await readdir(folder)).toEqual(["a"]);
  });

  it("sets the given mode", async () => {
    const path = join(folder, "a");
    await writeFileAtomic(path, "x", { mode: 0o640 });
    expect((await stat(path)).mode & 0o7777).toBe(0o640);
    await writeFileAtomic(path, "x");
    expect((await stat(path)).mode & 0o7777).toBe(0o666 & ~process.umask());
  });

  it("never writes through another hard link or a symbolic link", async () => {
    await writeFile(join(folder, "other"), "old");
    await link(join(folder, "other"), join(folder, "hard"));
    await symlink("other", join(folder, "soft"));
    await writeFileAtomic(join(folder, "hard"), "new");
    await writeFileAtomic(join(folder, "soft"), "new");
    expect(await readFile(join(folder, "other"), "utf8")).toBe("old");
  });

  it("creates only what is not there, when asked", async () => {
    const path = join(folder, "a");
    await writeFileAtomic(path, "first", { when: "create" });
    await expect(writeFileAtomic(path, "second", { when: "create" })).rejects.toThrow("EEXIST");
    const racers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => writeFileAtomic(join(folder, "race"), `${i}`, { when: "create" })),
    );
    expect(racers.filter((each) => each.status === "fulfilled")).toHaveLength(1);
    expect(await readFile(path, "utf8")).toBe("first");
    expect((await readdir(folder)).sort()).toEqual(["a", "race"]);
  });

  it("cleans up when it fails", async () => {
    await mkdir(join(folder, "taken"));
    await expect(writeFileAtomic(join(folder, "taken"), "x")).rejects.toThrow();
    await expect(writeFileAtomic(join(folder, "missing/a"), "x")).rejects.toThrow("ENOENT");
    expect(await readdir(folder)).toEqual(["taken"]);
  });

  it("manages names of the greatest length", async () => {
    for (const name of ["n".repeat(255), "ü".repeat(127)]) {
      await writeFileAtomic(join(folder, name), "x");
      expect(await readFile(join(folder, name), "utf8")).toBe("x");
    }
  });

  it("readers see the old or the new, never a part", async () => {
    const path = join(folder, "a");
    const versions = ["a".repeat(1_000_000), "b".repeat(1_000_000)];
    await writeFileAtomic(path, versions[0] as string);
    let writing = true;
    const writer = (async () => {
      for (let i = 1; i <= 10; i++) await writeFileAtomic(path, versions[i % 2] as string);
      writing = false;
    })();
    while (writing) expect(versions).toContain(await readFile(path, "utf8"));
    await writer;
  });

  it("reports when the folder is not writable", async () => {
    await chmod(folder, 0o555);
    await asOrdinaryUser(() => expect(writeFileAtomic(join(folder, "a"), "x")).rejects.toThrow("EACCES"));
    await chmod(folder, 0o755);
  });
});
