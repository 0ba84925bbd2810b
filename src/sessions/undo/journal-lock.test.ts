import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../base/clock.js";
import { nodeClock } from "../../system/node-clock.js";
import { isLocked, takeLock } from "./journal-lock.js";

let folder: string;
const options = { clock: nodeClock, waitMs: 0 };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the lock of a journal", () => {
  it("has one holder at a time", async () => {
    const release = await takeLock(folder, options);
    expect(isLocked(folder)).toBe(true);
    await expect(takeLock(folder, options)).rejects.toThrow(`in process ${process.pid}`);
    const waiting = takeLock(folder, { clock: nodeClock, waitMs: 10_000 });
    release();
    (await waiting)();
    expect(isLocked(folder)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is lost with the life of its holder, also when its number is used again", async () => {
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    const release = await takeLock(folder, options);
    const own = readFileSync(join(folder, "lock"), "utf8");
    release();
    for (const holder of [own.replace(/^\d+/, String(dead)), own.replace(/^(\d+) \d+/, "$1 1")]) {
      writeFileSync(join(folder, "lock"), holder);
      expect(isLocked(folder)).toBe(process.platform !== "linux" && holder.startsWith(`${process.pid} `));
      (await takeLock(folder, options))();
    }
  });

  it("of a process that cannot be looked up is renewed, and counts as left behind when it is not", async () => {
    const path = join(folder, "lock");
    writeFileSync(path, "17 1 another-boot pid:[1]");
    expect(isLocked(folder)).toBe(true);
    utimesSync(path, new Date(), new Date(Date.now() - 61_000));
    expect(isLocked(folder)).toBe(false);
    const clock = new ManualClock();
    const release = await takeLock(folder, { clock, waitMs: 0 });
    utimesSync(path, new Date(), new Date(Date.now() - 61_000));
    writeFileSync(path, readFileSync(path, "utf8").replace(/ \S+ \S+$/, " another boot"));
    utimesSync(path, new Date(), new Date(Date.now() - 61_000));
    clock.advance(15_000);
    expect(isLocked(folder)).toBe(true);
    release();
    expect(clock.pending).toBe(0);
  });
});
