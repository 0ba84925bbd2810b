import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withLock } from "./lock.mjs";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-lock-"));
  path = join(folder, "lock");
});

afterEach(() => rmSync(folder, { recursive: true }));

/** A lock held by a process of another machine, of which we only see that it touches the file. */
const FOREIGN = JSON.stringify({ pid: 1, host: "another.machine", since: 0 });

describe("the lock", () => {
  it("lets one in at a time, and gives back what the work gave", async () => {
    let inside = 0;
    const work = async (value: number) => {
      inside += 1;
      expect(inside).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      return value;
    };
    const values = await Promise.all([1, 2, 3].map((value) => withLock({ path, work: () => work(value) })));
    expect(values).toEqual([1, 2, 3]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is released when the work fails", async () => {
    const work = () => Promise.reject(new Error("no"));
    await expect(withLock({ path, work })).rejects.toThrow("no");
    expect(existsSync(path)).toBe(false);
  });

  it("is taken from an owner that shows no life for half a minute", async () => {
    writeFileSync(path, FOREIGN);
    let time = 0;
    const now = () => {
      time += 10_000;
      return time;
    };
    const owner = await withLock({ path, now, work: async () => readFileSync(path, "utf8") });
    expect(JSON.parse(owner)).toMatchObject({ pid: process.pid });
    expect(time).toBeGreaterThan(30_000);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is left with an owner that shows life, however long it takes", async () => {
    writeFileSync(path, FOREIGN);
    let time = 0;
    const now = () => {
      time += 10_000;
      if (time < 100_000) utimesSync(path, time, time);
      else rmSync(path, { force: true });
      return time;
    };
    await withLock({ path, now, work: async () => expect(time).toBeGreaterThanOrEqual(100_000) });
  });

  it("of another process is not removed at the end", async () => {
    await withLock({ path, work: async () => writeFileSync(path, FOREIGN) });
    expect(readFileSync(path, "utf8")).toBe(FOREIGN);
  });
});
