import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../base/clock.js";
import { nodeClock } from "../../system/node-clock.js";
import { isLocked, JournalLock } from "./journal-lock.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the lock of a journal", () => {
  it("has one holder at a time", async () => {
    const one = new JournalLock(folder, nodeClock);
    const two = new JournalLock(folder, nodeClock);
    for (let round = 0; round < 3; round++) {
      await one.take(0);
      expect(isLocked(folder)).toBe(true);
      await expect(two.take(0)).rejects.toThrow(`in process ${process.pid}`);
      const waiting = two.take(10_000);
      one.release();
      await waiting;
      two.release();
      expect(isLocked(folder)).toBe(false);
    }
    one.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is lost with the life of its holder, also when its number is used again", async () => {
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    const lock = new JournalLock(folder, nodeClock);
    await lock.take(0);
    const own = readFileSync(join(folder, "lock"), "utf8");
    lock.release();
    for (const holder of [own.replace(/^\d+/, String(dead)), own.replace(/^(\d+) \d+/, "$1 1")]) {
      writeFileSync(join(folder, "lock"), holder);
      expect(isLocked(folder)).toBe(process.platform !== "linux" && holder.startsWith(`${process.pid} `));
      await lock.take(0);
      lock.release();
    }
    lock.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("of a process that cannot be looked up is renewed, and counts as left behind when it is not", async () => {
    const path = join(folder, "lock");
    writeFileSync(path, "17 1 another-boot pid:[1]");
    expect(isLocked(folder)).toBe(true);
    utimesSync(path, new Date(), new Date(Date.now() - 61_000));
    expect(isLocked(folder)).toBe(false);
    const clock = new ManualClock();
    const lock = new JournalLock(folder, clock);
    await lock.take(0);
    // As seen from another container.
    writeFileSync(path, readFileSync(path, "utf8").replace(/ \S+ \S+$/, " another boot"));
    utimesSync(path, new Date(), new Date(Date.now() - 61_000));
    expect(isLocked(folder)).toBe(false);
    clock.advance(15_000);
    expect(isLocked(folder)).toBe(true);
    lock.release();
    expect([isLocked(folder), clock.pending]).toEqual([false, 0]);
  });

  it("that was taken over is not given back by the one who lost it", async () => {
    const lock = new JournalLock(folder, nodeClock);
    await lock.take(0);
    rmSync(join(folder, "lock"));
    writeFileSync(join(folder, "lock"), "17 1 another-boot pid:[1]");
    lock.release();
    expect(isLocked(folder)).toBe(true);
  });
});
