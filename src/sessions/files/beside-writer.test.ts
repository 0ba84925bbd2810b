import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import type { SessionStore } from "../store.js";
import { openFilesStore } from "./files-store.js";
import { SAMPLE_KEY, Script, sampleSession } from "./test-support/sample.js";

let folder: string;
let store: SessionStore;
const session = sampleSession(1);
const open = () => openFilesStore({ folder, key: SAMPLE_KEY });
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-beside-"));
  store = await open();
  await store.create(session);
});
afterEach(() => rm(folder, { recursive: true }));

describe("a session of the files store", () => {
  verifies(["S1"], "has no lock left when the store that changed its row is closed", async () => {
    await store.update(session.id, { pinned: true });
    await store.update(session.id, { title: "Another" });
    await store.close();
    expect(await readdir(join(folder, ".locks"))).toEqual([]);
  });

  verifies(["S1", "S11"], "is whole to readers while another store writes to it", async () => {
    const reader = await open();
    let isWriting = true;
    const write = async () => {
      let script = new Script(session.id, 1);
      for (let turn = 0; turn < times(20, 150); turn++) {
        script = script.asks("question").says("text ".repeat(50)).ends();
        await store.append(session.id, script.events, "sync");
        script = script.next;
      }
      isWriting = false;
    };
    const read = async () => {
      while (isWriting) {
        expect(await reader.verify(session.id)).toMatchObject({ ok: true });
        for await (const _event of reader.events(session.id));
      }
    };
    await Promise.all([write(), read()]);
    await store.close();
    await reader.close();
  });

  verifies(["S1", "S11"], "whose log or row is missing is still listed", async () => {
    const other = sampleSession(2);
    await store.create(other);
    await store.append(session.id, new Script(session.id, 1).asks("go").ends().events, "sync");
    await rm(join(folder, session.id, "events.jsonl"));
    expect((await store.list()).map(({ id }) => id)).toContain(session.id);
    await expect(store.verify(session.id)).rejects.toMatchObject({ code: "damaged" });
    await rm(join(folder, other.id, "session.conf"));
    expect(await store.unlisted?.()).toMatchObject([
      { id: other.id, message: expect.stringContaining("session.conf is missing") },
    ]);
    await store.close();
  });
});
