import { symlinkSync, unlinkSync } from "node:fs";
import {
  lstat,
  lutimes,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildChildPrograms, type ChildPrograms } from "../../test/support/child-programs.js";
import { until } from "../../test/support/waiting.js";
import { verifies } from "../../test/verifies.js";
import { type Clock, systemClock } from "../base/clock.js";
import { holdLock, holdLockSync, LockBusy, lockHolder, sweepLocks, withLock } from "./file-lock.js";

let folder: string;
let path: string;
let children: ChildPrograms;
const clock = systemClock;

beforeAll(async () => {
  children = await buildChildPrograms(import.meta.url, "holder", "counter");
});
afterAll(() => children.discard());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-lock-"));
  path = join(folder, "locks", "one");
});
afterEach(() => rm(folder, { recursive: true }));

const left = () => readdir(join(folder, "locks"));

describe("a lock", () => {
  it("admits one holder at a time, even within a process, and is released when the work fails", async () => {
    let inside = 0;
    const visit = () =>
      withLock(path, { clock }, async () => {
        inside++;
        await new Promise((resolve) => setImmediate(resolve));
        expect(inside).toBe(1);
        inside--;
      });
    await Promise.all(Array.from({ length: 20 }, visit));
    await expect(withLock(path, { clock }, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await left()).toEqual([]);
  });

  it("is not taken from a process that lives, and says who holds it", async () => {
    const child = children.start("holder", path);
    await new Promise((resolve) => child.process.stdout?.once("data", resolve));
    const attempt = withLock(path, { clock, patienceMs: 30 }, async () => {});
    await expect(attempt).rejects.toMatchObject({
      name: "LockBusy",
      holder: { pid: child.process.pid },
      message: expect.stringMatching(new RegExp(`process ${child.process.pid} .* remove ${path}`)),
    });
    child.process.kill("SIGKILL");
    await child.end;
    expect(await withLock(path, { clock }, async () => "mine")).toBe("mine");
    expect(await left()).toEqual([]);
  });

  verifies(["S1"], "is taken from processes that died with it, by one of those that wait", async () => {
    const file = join(folder, "count");
    await writeFile(file, "0");
    const [workers, times] = [6, 40];
    const ends = Array.from({ length: workers }, () => children.start("counter", path, file, `${times}`).end);
    for (const { err } of await Promise.all(ends)) expect(err).toBe("");
    expect(Number(await readFile(file, "utf8"))).toBe(workers * times);
    await withLock(path, { clock }, async () => {});
    expect(await left()).toEqual([]);
  });

  it("knows that a process id was given out again, and that the machine was started again", async () => {
    let own = "";
    await withLock(path, { clock }, async () => {
      own = await readlink(path);
    });
    // ext4 stores a longer link in a block of its own, which takes ten times as long.
    expect(own.length).toBeLessThan(60);
    const [system, boot, pid, start, token] = own.split("_");
    await mkdir(join(folder, "locks"), { recursive: true });
    const stale = [
      [system, boot, pid, Number(start) + 1, token],
      [system, boot, process.ppid, 1, token],
      [system, `${boot}0`, pid, start, token],
    ];
    if (process.platform !== "linux") stale.splice(0, 2);
    for (const mark of stale) {
      await symlink(mark.join("_"), path);
      expect(await withLock(path, { clock, patienceMs: 0 }, async () => "mine"), mark.join(" ")).toBe("mine");
    }
  });

  it("is not broken by a process that looked too long ago", async () => {
    let own = "";
    await withLock(path, { clock }, async () => {
      own = await readlink(path);
    });
    const [system] = own.split("_");
    await symlink(`${system}_anotherboot_1_1_abc`, path);
    let late: Promise<unknown> = Promise.resolve();
    // A process that breaks the dead holder's lock has to wait for us; meanwhile another one takes it.
    await withLock(`${path}.abc`, { clock }, async () => {
      await new Promise<void>((waiting) => {
        const after: Clock["after"] = (ms, action) => {
          waiting();
          return clock.after(ms, action);
        };
        const attempt = withLock(path, { clock: { ...clock, after }, patienceMs: 100 }, async () => {});
        late = expect(attempt).rejects.toThrow(LockBusy);
      });
      unlinkSync(path);
      symlinkSync(own, path);
    });
    await late;
    expect(await readlink(path)).toBe(own);
  });

  it("believes a process of another system for a while", async () => {
    await mkdir(join(folder, "locks"));
    await symlink(`${hostname()}x_boot_1_1_abc`, path);
    const attempt = () => withLock(path, { clock, patienceMs: 5 }, async () => "mine");
    await expect(attempt()).rejects.toThrow(/another system/);
    const before = Date.now() / 1000 - 3600;
    await lutimes(path, before, before);
    expect(await attempt()).toBe("mine");
    // Where there are no links a lock is a file; one that says nothing may be in the making.
    await writeFile(path, "");
    await expect(attempt()).rejects.toThrow(LockBusy);
    await utimes(path, before, before);
    expect(await attempt()).toBe("mine");
  });

  it("waits with the clock it was given", async () => {
    const waits: number[] = [];
    let now = 0;
    const fast: Clock = {
      now: () => now,
      wall: () => Date.now(),
      after(ms, action) {
        waits.push(ms);
        now += ms;
        queueMicrotask(action);
        return () => {};
      },
    };
    await withLock(path, { clock }, async () => {
      await expect(withLock(path, { clock: fast, patienceMs: 50 }, async () => {})).rejects.toThrow(LockBusy);
    });
    expect(waits.slice(0, 5)).toEqual([1, 2, 4, 8, 10]);
  });

  it("is the same one for work that blocks", async () => {
    const lock = holdLockSync(path, { clock });
    expect([lock.isHeld(), lockHolder(path)?.pid]).toEqual([true, process.pid]);
    await expect(withLock(path, { clock, patienceMs: 0 }, async () => {})).rejects.toThrow(LockBusy);
    lock.release();
    expect([lock.isHeld(), lockHolder(path)]).toEqual([false, undefined]);
    await withLock(path, { clock }, async () => {
      const began = clock.now();
      expect(() => holdLockSync(path, { clock, patienceMs: 20 })).toThrow(LockBusy);
      expect(clock.now() - began).toBeGreaterThanOrEqual(20);
    });
    const child = children.start("holder", path);
    await new Promise((resolve) => child.process.stdout?.once("data", resolve));
    child.process.kill("SIGKILL");
    await child.end;
    holdLockSync(path, { clock, patienceMs: 0 }).release();
    expect(await left()).toEqual([]);
  });

  it("of another system counts for as long as its holder renews it", async () => {
    const lock = await holdLock(path, { clock, renewMs: 1 });
    const own = await readlink(path);
    const before = Date.now() / 1000 - 3600;
    await lutimes(path, before, before);
    await until(async () => (await lstat(path)).mtimeMs > Date.now() - 60_000);
    lock.release();
    await symlink(own.replace(/^[^_]+/, "another"), path);
    expect(lockHolder(path)).toMatchObject({ pid: undefined, since: expect.any(Number) });
    await lutimes(path, before, before);
    expect(lockHolder(path)).toBeUndefined();
    // What it holds now is not ours to release.
    lock.release();
    expect(await left()).toEqual(["one"]);
    sweepLocks(join(folder, "locks"), { clock });
    expect(await left()).toEqual([]);
  });

  it("that is being broken by a process that died is broken by the next one", async () => {
    let own = "";
    await withLock(path, { clock }, async () => {
      own = await readlink(path);
    });
    const dead = (token: string) => own.replace(/_[^_]+_[^_]+_([^_]+)_[^_]+$/, `_4194305_1_$1_${token}`);
    await symlink(dead("abc"), path);
    await symlink(dead("def"), `${path}.abc`);
    expect(await withLock(path, { clock, patienceMs: 0 }, async () => "mine")).toBe("mine");
    await symlink(dead("abc"), path);
    await symlink(dead("def"), `${path}.abc`);
    holdLockSync(path, { clock, patienceMs: 0 }).release();
    expect(await left()).toEqual([]);
  });
});
