/** Machines that lack what every program takes for granted. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect } from "vitest";
import { BIN, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

async function shell(script: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const home = await temporaryFolder();
  const env = { PATH: process.env.PATH ?? "", HOME: home, OXBOW_HOME: home, NODE: process.execPath, BIN };
  const cwd = await temporaryFolder();
  return new Promise((resolve) => {
    execFile("bash", ["-c", script], { env, cwd }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
  });
}

describe("a machine", () => {
  verifies(["O5"], "without the working directory gets a sentence", async () => {
    for (const command of ['run --provider offline "hello you"', "session list", "tools", "doctor"]) {
      const { code, stderr } = await shell(`mkdir gone; cd gone; rmdir ../gone; "$NODE" "$BIN" ${command}`);
      expect(code).not.toBe(0);
      expect(stderr.trimEnd().split("\n").at(-1)).toBe(
        "oxbow: The working directory does not exist or cannot be read. Change to another one, or give one with --cwd.",
      );
    }
  });

  verifies(["O5"], "that lets few files be open gets a sentence", async (context) => {
    context.skip(!existsSync("/proc/self/limits"), "the system does not tell its limits in a file");
    for (const command of ['run --provider offline "hello you"', "session list"]) {
      const { code, stderr } = await shell(`ulimit -n 20; exec "$NODE" "$BIN" ${command}`);
      expect(code).toBe(1);
      expect(stderr).toBe(
        "oxbow: the limit of open files is 20, and Oxbow needs 64. Raise the limit: ulimit -n 1024\n",
      );
    }
  });

  verifies(["S1"], "whose disk is full or read-only still lists and verifies its sessions", async (context) => {
    const mount = 'mkdir d && mount -t tmpfs -o size=6m tmpfs d && export OXBOW_HOME="$PWD/d/home"';
    const may = await shell(`unshare -m bash -c '${mount}'`);
    context.skip(may.code !== 0, "no file system can be mounted here");
    const made = '"$NODE" "$BIN" run --provider offline "hello you" > /dev/null';
    const look = '"$NODE" "$BIN" session list && "$NODE" "$BIN" session verify --all';
    const full = "head -c 7000000 /dev/zero > d/fill 2> /dev/null; true";
    for (const state of [full, "mount -o remount,ro d"]) {
      const { code, stdout, stderr } = await shell(`unshare -m bash -c '${mount} && ${made} && ${state} && ${look}'`);
      expect([code, stdout], stderr).toEqual([0, expect.stringContaining("all unchanged")]);
      expect(stdout).toContain("hello you");
    }
  });
});
