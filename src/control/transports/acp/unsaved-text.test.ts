import { mkdir, mkdtemp, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { until } from "../../../../test/support/waiting.js";
import { unsavedText, withUnsaved } from "./unsaved-text.js";

const MEBIBYTE = 1024 * 1024;
let root: string;

beforeEach(async () => {
  root = join(await realpath(await mkdtemp(join(tmpdir(), "oxbow-unsaved-"))), "w");
  await mkdir(join(root, "sub"), { recursive: true });
  await writeFile(join(root, "a.txt"), "saved");
  await writeFile(join(root, "sub", "b.txt"), "saved");
  await settled();
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(join(root, ".."), { recursive: true });
});

/** Waits until the last change of the folders is old enough to be believed. */
async function settled(): Promise<void> {
  const changed = await Promise.all([root, join(root, "sub")].map(async (path) => (await stat(path)).ctimeMs));
  await until(async () => Date.now() - Math.max(...changed) >= 60);
}

const uri = (path: string) => pathToFileURL(join(root, path)).href;
const asked = (where: string, read: (path: string) => Promise<string> = async () => "typed") =>
  unsavedText(where, { root, read });

describe("[C4] the unsaved text of a file", () => {
  it.each(["a.txt", "sub/b.txt", "new.txt", "sub/new.txt"])("of %s is the editor's", async (path) => {
    expect(await asked(uri(path))).toBe("typed");
    expect(await asked(`${uri(path)}?x=1#L3`)).toBe("typed");
  });

  it("is not asked for where the mention is no file below the folder", async () => {
    const read = vi.fn(async () => "typed");
    const outside = [uri("."), uri(".."), uri("../x"), "https://h/a.txt", "no uri", uri("sub"), uri("missing/a.txt")];
    for (const where of [...outside, "file://host/a.txt"]) expect(await asked(where, read), where).toBeUndefined();
    expect(read).not.toHaveBeenCalled();
    expect(await asked(uri("..a"), read)).toBe("typed");
  });

  it("is not asked for through a link, in a folder that just changed, and of a large file", async () => {
    const read = vi.fn(async () => "typed");
    await symlink(join(root, "sub"), join(root, "link"));
    await symlink(join(root, "a.txt"), join(root, "file-link"));
    await writeFile(join(root, "large"), Buffer.alloc(MEBIBYTE + 1, "x"));
    await writeFile(join(root, "just-large"), Buffer.alloc(MEBIBYTE, "x"));
    vi.useFakeTimers({ toFake: ["Date"], now: (await stat(root)).ctimeMs + 49 });
    expect(await asked(uri("a.txt"), read)).toBeUndefined();
    vi.setSystemTime((await stat(root)).ctimeMs + 51);
    for (const path of ["link/b.txt", "file-link", "large"]) expect(await asked(uri(path), read), path).toBeUndefined();
    expect(read).not.toHaveBeenCalled();
    expect(await asked(uri("just-large"), read)).toBe("typed");
  });

  it("does not count where a folder or the file changed meanwhile", async () => {
    const changes = [
      () => writeFile(join(root, "sub", "b.txt"), "other"),
      () => rm(join(root, "sub", "b.txt")),
      async () => {
        await rename(join(root, "sub"), join(root, "moved"));
        await symlink("/", join(root, "sub"));
      },
    ];
    for (const change of changes) {
      const read = async () => {
        await change();
        return "typed";
      };
      expect(await asked(uri("sub/b.txt"), read)).toBeUndefined();
      await rm(join(root, "sub"), { recursive: true });
      await mkdir(join(root, "sub"));
      await writeFile(join(root, "sub", "b.txt"), "saved");
      await settled();
    }
  });

  it("does not count where it is that of the disk, too long, refused or late", async () => {
    expect(await asked(uri("a.txt"), async () => "saved")).toBeUndefined();
    expect(await asked(uri("a.txt"), async () => "x".repeat(MEBIBYTE + 1))).toBeUndefined();
    expect(await asked(uri("a.txt"), async () => "x".repeat(MEBIBYTE))).toHaveLength(MEBIBYTE);
    expect(await asked(uri("a.txt"), () => Promise.reject(new Error("no")))).toBeUndefined();
    expect(await asked(uri("new.txt"), async () => "")).toBe("");
    let isAsked = () => {};
    const reading = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const late = asked(uri("a.txt"), () => {
      isAsked();
      return new Promise(() => {});
    });
    await reading;
    await vi.advanceTimersByTimeAsync(2000);
    expect(await late).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("stands behind its mention, and other blocks stay", async () => {
    const link = (path: string) => ({ type: "resource_link" as const, name: path, uri: uri(path) });
    const text = { type: "text" as const, text: "Look" };
    const read = async (path: string) => (path.endsWith("a.txt") ? "typed" : "saved");
    const blocks = await withUnsaved([text, link("a.txt"), link("sub/b.txt")], { root, read });
    expect(blocks).toEqual([
      text,
      link("a.txt"),
      { type: "text", text: " (This file has changes in the editor that are not saved. Its text there:)" },
      { type: "resource", resource: { uri: uri("a.txt"), text: "typed" } },
      link("sub/b.txt"),
    ]);
  });
});
