import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { needs } from "../../test/support/needs.js";
import { isAlive, isGone, isRunning, ownIdentity, processMark, processNamespace } from "./process-identity.js";
import { startTimeOf } from "./process-table.js";

describe("whether a process still runs", () => {
  it("is identified by its id and its start time", async () => {
    expect(isAlive(ownIdentity())).toBe(true);
    const child = spawn("sleep", ["60"]);
    await once(child, "spawn");
    const pid = child.pid as number;
    const identity = { pid, startTime: startTimeOf(pid) };
    expect(isAlive(identity)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isAlive(identity)).toBe(false);
    expect(isRunning(pid)).toBe(false);
  });

  needs("linux").it("does not match another process that has the id now", () => {
    expect(isAlive({ pid: process.ppid, startTime: startTimeOf(process.ppid) + 1 })).toBe(false);
    expect(isAlive({ pid: process.pid, startTime: ownIdentity().startTime + 1 })).toBe(false);
  });

  it("is identified by a mark in a name, only within one namespace", () => {
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    expect(isGone(processMark())).toBe(false);
    expect(isGone(`${pid}.${processNamespace()}`)).toBe(true);
    expect(isGone(`${pid}.${Number(processNamespace()) + 1}`)).toBe(false);
    expect(isGone("nonsense")).toBe(false);
  });
});
