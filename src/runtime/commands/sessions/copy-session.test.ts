/** A process that copies a session is killed while it copies, and right before the copy would be complete. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { buildChildPrograms, type ChildPrograms } from "../../../../test/support/child-programs.js";
import { isThorough } from "../../../../test/support/thorough.js";
import { verifies } from "../../../../test/verifies.js";
import type { SessionId } from "../../../protocol/ids.js";
import { openFilesStore } from "../../../sessions/files/files-store.js";
import { openSqliteStore } from "../../../sessions/sqlite/sqlite-store.js";
import type { SessionStore } from "../../../sessions/store.js";
import { copySession } from "./copy-session.js";
import { COPIED, copyKey, EVENTS, eventsOf } from "./test-support/copied-session.js";

let folder: string;
let children: ChildPrograms;

beforeAll(async () => {
  children = await buildChildPrograms(import.meta.url, "copier");
});
afterAll(() => children.discard());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-copy-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function open(kind: "sqlite" | "files"): Promise<SessionStore> {
  const key = copyKey();
  return kind === "sqlite" ? openSqliteStore({ path: join(folder, "s.db"), key }) : openFilesStore({ folder, key });
}

async function* copied(session: SessionId) {
  yield* eventsOf(session);
}

async function killAt(kind: string, moment: string): Promise<void> {
  const child = children.start("copier", kind, folder, moment);
  await new Promise((resolve) => child.process.stdout?.once("data", resolve));
  child.process.kill("SIGKILL");
  const { signal, err } = await child.end;
  expect([signal, err]).toEqual(["SIGKILL", ""]);
}

describe("a copy of a session", () => {
  for (const kind of ["sqlite", "files"] as const) {
    for (const moment of isThorough ? ["2", "700", "1300", "finish"] : [kind === "files" ? "700" : "finish"]) {
      verifies(["S1", "S6"], `is not there when its process is killed (${kind}, at ${moment})`, async () => {
        const other = {
          ...COPIED,
          id: "sess_01M7F0TY63B39H5SVH4DM3R6HZ",
          log: "log_01M7F0TY63B39H5SVH4DM3R6HY",
        } as const;
        const before = await open(kind);
        await copySession(before, { session: other, events: copied(other.id), progress: () => {} });
        await before.close();
        await killAt(kind, moment);
        const store = await open(kind);
        expect((await store.list()).map(({ id, last_event }) => [id, last_event])).toEqual([[other.id, EVENTS]]);
        expect(await store.get(COPIED.id)).toBeUndefined();
        // The next attempt, with the same id, is complete.
        await copySession(store, { session: COPIED, events: copied(COPIED.id), progress: () => {} });
        expect(await store.get(COPIED.id)).toMatchObject({ last_event: EVENTS });
        expect(await store.verify(COPIED.id)).toMatchObject({ ok: true });
        await store.close();
      });
    }
  }
});
