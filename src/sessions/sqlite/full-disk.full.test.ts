import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { buildChildPrograms, type ChildEnd, type ChildPrograms } from "../../../test/support/child-programs.js";
import { skipWithout } from "../../../test/support/needs.js";
import { withSmallDisk } from "../../../test/support/undo-at-end.js";
import { verifies } from "../../../test/verifies.js";
import type { StoreErrorCode } from "../store.js";
import { openSqliteStore } from "./sqlite-store.js";
import { SAMPLE_KEY, sampleEvent, sampleSession } from "./test-support/sample.js";

let folder: string;
let children: ChildPrograms;
const session = sampleSession(1);

beforeAll(async () => {
  children = await buildChildPrograms(import.meta.url, "fill-disk");
});
afterAll(() => children.discard());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-full-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** There is space again: everything acknowledged is there, and the session goes on. */
async function check(path: string, { code, signal, out, err }: ChildEnd, refusal: StoreErrorCode): Promise<void> {
  expect({ code, signal, err }).toEqual({ code: 0, signal: null, err: "" });
  const lines = out.trim().split("\n");
  const of = (letter: string) => lines.filter((line) => line.startsWith(`${letter} `)).map((line) => line.slice(2));
  expect(of("x").length).toBeGreaterThanOrEqual(10);
  expect(new Set(of("x"))).toEqual(new Set([refusal]));
  const acknowledged = of("e").map(Number);
  expect(acknowledged.length).toBeGreaterThan(10);
  const store = await openSqliteStore({ path, key: SAMPLE_KEY });
  try {
    const last = (await store.get(session.id))?.last_event ?? 0;
    expect(last).toBe(acknowledged.at(-1));
    expect(acknowledged).toEqual(Array.from({ length: last }, (_, i) => i + 1));
    expect(await store.verify(session.id)).toEqual({ ok: true, events: last });
    expect((await store.orphans(session.id)).map(({ call }) => call).sort()).toEqual(of("i").sort());
    await store.append(session.id, [sampleEvent(session.id, last + 1)], "sync");
    expect(await store.verify(session.id)).toEqual({ ok: true, events: last + 1 });
  } finally {
    await store.close();
  }
}

describe("a full disk", () => {
  verifies(
    ["S1", "S3"],
    "loses nothing that was acknowledged, and the session goes on when there is space",
    async (context) => {
      const disk = join(folder, "disk");
      await withSmallDisk(context, { folder: disk, size: "1m" }, async (resize) => {
        const path = join(disk, "sessions.db");
        const end = await children.start("fill-disk", path).end;
        resize("16m");
        await check(path, end, "full");
      });
    },
  );

  verifies(["S1", "S3"], "is the same when the file may not grow", async (context) => {
    skipWithout(context, "posix");
    const path = join(folder, "sessions.db");
    // In blocks of 1024 bytes; the signal would end the process before the store hears of it.
    const end = await children.startAfter("trap '' XFSZ && ulimit -f 600", "fill-disk", path).end;
    await check(path, end, "unavailable");
  });
});
