import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { temporaryFolder } from "../../test/support/program.js";
import { verifies } from "../../test/verifies.js";
import { createIdSource } from "../base/ulid.js";
import type { SessionId } from "../protocol/ids.js";
import { sweepOutputs, trimOutputs } from "./outputs.js";
import type { SessionRecord } from "./store.js";

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
const ids = createIdSource({ wall: () => NOW - 50 * DAY_MS, random: (bytes) => crypto.getRandomValues(bytes) });

async function put(folder: string, path: string, { bytes = 10, age = 0 }: { bytes?: number; age?: number }) {
  const file = join(folder, path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, "x".repeat(bytes));
  const time = (NOW - age * DAY_MS) / 1000;
  await utimes(file, time, time);
}

async function left(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.sort();
}

describe("long outputs", () => {
  verifies(["S5"], "take no more space than the limit: the oldest go first", async () => {
    const folder = await temporaryFolder();
    await put(folder, "old.log", { bytes: 50, age: 9 });
    await put(folder, "a/1.log", { bytes: 40, age: 3 });
    await put(folder, "b/2.log", { bytes: 30, age: 2 });
    await put(folder, "a/3.log", { bytes: 30, age: 1 });
    await trimOutputs(folder, 100);
    expect(await left(folder)).toEqual(["a", "a/1.log", "a/3.log", "b", "b/2.log"]);
    await trimOutputs(folder, 5);
    expect(await left(folder)).toEqual(["a", "a/3.log", "b"]);
  });

  verifies(["S5"], "go with the content of their session", async () => {
    const folder = await temporaryFolder();
    const [kept, gone, expired, pinned] = [0, 1, 2, 3].map(() => ids.next("sess")) as [
      SessionId,
      SessionId,
      SessionId,
      SessionId,
    ];
    for (const id of [kept, gone, expired, pinned]) {
      await put(folder, `${id}/new.log`, { age: 1 });
      await put(folder, `${id}/old.log`, { age: 40 });
    }
    const record = (id: SessionId, more: Partial<SessionRecord>) =>
      ({ id, pinned: false, expired_to: 0, last_event: 9, ...more }) as SessionRecord;
    const records = [record(kept, {}), record(expired, { expired_to: 9 }), record(pinned, { pinned: true })];
    const find = async (id: SessionId) => records.find((each) => each.id === id);
    await sweepOutputs(folder, { now: NOW, days: 30, find, knowsAll: false });
    expect(await left(join(folder, gone))).toEqual(["new.log"]);
    const young = createIdSource({ wall: () => NOW - 1000, random: (bytes) => bytes.fill(9) }).next("sess");
    await mkdir(join(folder, young));
    await sweepOutputs(folder, { now: NOW, days: 30, find, knowsAll: true });
    expect(await left(folder)).toEqual(
      [kept, `${kept}/new.log`, pinned, `${pinned}/new.log`, `${pinned}/old.log`, young].sort(),
    );
  });
});
