import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inWords } from "./errno-words.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-words-"));
});
afterEach(() => rm(folder, { recursive: true }));

const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => "",
    (error: unknown) => (error as Error).message,
  );

describe("errors of the operating system in words", () => {
  it("say what is wrong and what to do, for errors as Node makes them", async () => {
    await writeFile(join(folder, "file"), "");
    const [through, missing] = [join(folder, "file", "below"), join(folder, "missing")];
    expect(inWords(await messageOf(readFile(through)))).toBe(
      `Oxbow cannot use ${through}: a part of its path is a file and should be a folder. Move that file away.`,
    );
    expect(inWords(await messageOf(open(missing)))).toBe(
      `Oxbow cannot use ${missing}: it does not exist. Check the path.`,
    );
    expect(inWords(await messageOf(readFile(folder)))).toMatch(/it is a folder and should be a file/);
  });

  it("say of a folder that cannot be made what stands against it: Node says that it does not exist", () => {
    const message = (path: string) => `ENOENT: no such file or directory, mkdir '${path}'`;
    const below = join(folder, "a", "b");
    const readOnly = (path: string) => {
      if (path === folder) throw Object.assign(new Error(), { code: "EROFS" });
    };
    expect(inWords(message(below))).toContain("it does not exist");
    expect(inWords(message(below), readOnly)).toContain("the disk is read-only");
    expect(inWords(message(below).replace("mkdir", "open"), readOnly)).toContain("it does not exist");
  });

  it("stand in the messages that quote them, and name a path only once", () => {
    expect(inWords("Cannot read the profile /a/b: ENOTDIR: not a directory, open '/a/b'")).toBe(
      "Cannot read the profile /a/b: a part of its path is a file and should be a folder. Move that file away.",
    );
    expect(inWords("Oxbow cannot save it: EROFS: read-only file system, symlink 'x' -> '/home/.lock'")).toBe(
      "Oxbow cannot save it: the disk is read-only (/home/.lock). Make it writable, or use a folder on another disk.",
    );
    expect(inWords("Oxbow cannot save /home/a: EROFS: read-only file system, open '/home/.a.123.tmp'")).toBe(
      "Oxbow cannot save /home/a: the disk is read-only. Make it writable, or use a folder on another disk.",
    );
    expect(inWords("ENOSPC: no space left on device, write")).toBe(
      "Oxbow cannot write a file: the disk is full. Free some space, and try again.",
    );
  });

  it("leave other messages alone", () => {
    for (const message of [
      "All is well.",
      "ECONNREFUSED: connection refused, connect 127.0.0.1:1",
      "See ENOSPC: it means a full disk",
      "ENOSPC",
    ]) {
      expect(inWords(message)).toBe(message);
    }
  });

  it("know every code that is about files", () => {
    const about =
      /^(EACCES|EBUSY|EDQUOT|EEXIST|EFBIG|EIO|EISDIR|ELOOP|EMFILE|ENAMETOOLONG|ENFILE|ENOENT|ENOSPC|ENOTDIR|ENOTEMPTY|EPERM|EROFS|ETXTBSY|EXDEV)$/;
    const codes = Object.keys(constants.errno).filter((code) => about.test(code));
    expect(codes.length).toBeGreaterThan(15);
    for (const code of codes) expect(inWords(`${code}: some words, open '/x'`)).not.toContain(code);
  });
});
