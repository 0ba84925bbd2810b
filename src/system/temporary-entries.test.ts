import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
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
  it("are removed when their process has ended, and only then", async () => {
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

  it("lead to the temporary file of an edit whose process was killed", async () => {
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    const module = join(folder, "edit.mjs");
    const contents = `import { replaceFile } from ${JSON.stringify(fileURLToPath(new URL("../tools/files/whole-file.ts", import.meta.url)))};
      const absolute = process.argv[2] + "/a.txt";
      await replaceFile(absolute, Buffer.alloc(64e6), { absolute, existing: undefined, mode: undefined });`;
    const stdin = { contents, resolveDir: folder };
    await build({ stdin, outfile: module, bundle: true, platform: "node", format: "esm", logLevel: "silent" });
    const left = await killedWhileWriting(module, workspace);
    expect(left).toMatch(/^\.a\.txt\.[0-9a-f]{12}\.tmp$/);
    // A note that names any other file removes nothing.
    const dead = String(spawnSync("true").pid);
    writeFileSync(join(workspace, "mine.tmp"), "");
    symlinkSync(join(workspace, "mine.tmp"), `${temporaryPrefix("edit").replace(`-${process.pid}.`, `-${dead}.`)}00`);
    await sweepTemporaryEntries();
    expect(readdirSync(workspace)).toEqual(["mine.tmp"]);
    expect(readdirSync(folder).filter((name) => name.startsWith("oxbow-edit-"))).toEqual([]);
  });
});

/** Answers with the name of the temporary file that it left. */
async function killedWhileWriting(module: string, workspace: string): Promise<string | undefined> {
  for (let tries = 0; tries < 10; tries++) {
    const child = spawn(process.execPath, [module, workspace], { env: { ...process.env, TMPDIR: tmpdir() } });
    const watcher = watch(workspace, () => child.kill("SIGKILL"));
    await once(child, "exit");
    watcher.close();
    const left = readdirSync(workspace).find((name) => name.endsWith(".tmp"));
    if (left !== undefined) return left;
    for (const name of readdirSync(workspace)) rmSync(join(workspace, name));
  }
  return undefined;
}
