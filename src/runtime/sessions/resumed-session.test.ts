import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { openFilesStore } from "../../sessions/files/files-store.js";
import { openSqliteStore } from "../../sessions/sqlite/sqlite-store.js";
import { SAMPLE_KEY, sampleSession } from "../../sessions/sqlite/test-support/sample.js";
import { resumeSession } from "./resumed-session.js";
import type { SessionStores } from "./session-stores.js";

describe("resuming a session", () => {
  for (const kind of ["sqlite", "files"] as const) {
    verifies(["S1", "S7"], `opens one without events as an empty one (${kind})`, async () => {
      const folder = await mkdtemp(join(tmpdir(), "oxbow-empty-"));
      const store =
        kind === "sqlite"
          ? await openSqliteStore({ path: join(folder, "sessions.db"), key: SAMPLE_KEY })
          : await openFilesStore({ folder });
      try {
        const session = sampleSession(1);
        await store.create(session);
        const stores = { open: async () => store } as unknown as SessionStores;
        const resumed = await resumeSession(stores, { resume: session.id });
        if (resumed === undefined || "failure" in resumed) throw new Error("not resumed");
        expect(resumed).toMatchObject({ record: { last_event: 0 }, calls: [], turns: 0 });
        expect(resumed.rebuilt.messages).toEqual([]);
        await resumed.lease.release();
        expect(await store.verify(session.id)).toEqual({ ok: true, events: 0 });
      } finally {
        await store.close();
        await rm(folder, { recursive: true });
      }
    });
  }
});
