import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeTemporaryFolder, sweepTemporaryEntries, temporaryPrefix } from "./temporary-entries.js";

const before = process.env.TMPDIR;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sweep-"));
  process.env.TMPDIR = folder;
});
afterEach(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(folder, { recursive: true });
});

describe("temporary entries", () => {
  it("go when their process is gone, and only then", async () => {
    const own = makeTemporaryFolder("net");
    const dead = String(spawnSync("true").pid);
    const left = own.replace(`-${process.pid}.`, `-${dead}.`);
    mkdirSync(left);
    writeFileSync(join(left, "socket"), "");
    const pipe = `${temporaryPrefix("pipe").replace(`-${process.pid}.`, `-${dead}.`)}x1`;
    writeFileSync(pipe, "");
    // Of another process namespace, of another program, and of a person.
    const others = [
      left.replace(/\.\d+-/, ".7-"),
      join(folder, `oxbow-notes-${dead}`),
      join(folder, `oxbow-net-${dead}.txt`),
    ];
    for (const path of others) writeFileSync(path, "");
    await sweepTemporaryEntries();
    expect([left, pipe].map(existsSync)).toEqual([false, false]);
    expect([own, ...others].map(existsSync)).toEqual([true, true, true, true]);
  });
});
