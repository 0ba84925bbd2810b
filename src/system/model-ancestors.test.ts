import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { skipWithout } from "../../test/support/needs.js";
import { verifies } from "../../test/verifies.js";
import { isInsideEngine } from "./model-ancestors.js";

let folder: string;
let running: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ancestors-"));
});
afterEach(() => {
  for (const child of running) child.stdin?.end();
  running = [];
  rmSync(folder, { recursive: true });
});

/** Runs a line of shell that ends with `cat`, started by a program; returns whether that `cat` counts as inside. */
async function isInside(program: readonly string[], line: string, env: NodeJS.ProcessEnv = {}): Promise<boolean> {
  const [command = "", ...args] = [...program, line];
  const child = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, stdio: ["pipe", "pipe", "inherit"] });
  running.push(child);
  const [pid] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return isInsideEngine({}, { from: Number(String(pid)), program: "/nowhere/bin.js" });
}

const LINE = "echo $$; exec env -u OXBOW_AGENT cat";

verifies(
  ["P4"],
  "a command of a model counts as an agent after it removed its mark; a wrapper of a person does not",
  async (context) => {
    skipWithout(context, "linux");
    const engine = join(folder, "oxbow");
    // The last word is the line; those before it are the words of the command line.
    writeFileSync(
      engine,
      'require("child_process").spawn("sh", ["-c", process.argv.at(-1)], { stdio: "inherit", env: { PATH: process.env.PATH } });',
    );
    const shell = join(folder, "ox");
    writeFileSync(shell, '#!/bin/sh\nsh -c "$1"; true\n', { mode: 0o755 });
    const node = process.execPath;
    expect(await isInside([node, engine, "run", "go"], LINE)).toBe(true);
    expect(await isInside([node, "--no-warnings", engine, "acp"], LINE)).toBe(true);
    expect(await isInside([node, "--require", "node:os", engine, "serve"], LINE)).toBe(true);
    expect(await isInside([node, engine, "conformance", "--against"], LINE), "a check of a server").toBe(false);
    expect(await isInside([node, engine], LINE), "a conversation, with the line as its prompt").toBe(true);
    expect(await isInside(["sh", "-c"], `${LINE}; true`, {}), "no Oxbow").toBe(false);
    expect(await isInside(["sh", "-c"], `sh -c '${LINE}'; true`, { OXBOW_AGENT: "1" }), "a marked parent").toBe(true);
    expect(await isInside([shell], LINE), "a shell script of that name").toBe(false);
    expect(await isInside(["sh", "-c", `sh -c "$1"; true`, "oxbow", LINE], ""), "its name among the words").toBe(false);
  },
);
