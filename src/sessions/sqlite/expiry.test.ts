import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { Envelope } from "../../protocol/envelope.js";
import { EXPIRED } from "../../protocol/events.js";
import type { Bindable } from "../../system/sqlite/bindable.js";
import { Database } from "../../system/sqlite/database.js";
import { withoutContent } from "../expired.js";
import type { LogProblem, SessionStore } from "../store.js";
import { databaseKey } from "./keys.js";
import { openSqliteStore } from "./sqlite-store.js";
import { SAMPLE_KEY, sampleEvents, sampleIds, sampleSession, sampleTime } from "./test-support/sample.js";

let folder: string;
let path: string;
const session = sampleSession(1);
const place = (id: number) => 2 ** 30 + id;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-expiry-"));
  path = join(folder, "sessions.db");
});
afterEach(() => rm(folder, { recursive: true }));

const open = () => openSqliteStore({ path, key: SAMPLE_KEY });

async function fill(events: number): Promise<SessionStore> {
  const store = await open();
  await store.create(session);
  await store.append(session.id, sampleEvents(session.id, 1, events), "group");
  return store;
}

async function read(store: SessionStore, after = 0): Promise<Envelope[]> {
  const found: Envelope[] = [];
  for await (const event of store.events(session.id, { after })) found.push(event);
  return found;
}

async function withDatabase<T>(action: (database: Database) => T): Promise<T> {
  const database = await Database.open({ path, key: databaseKey(SAMPLE_KEY) });
  try {
    return action(database);
  } finally {
    database.close();
  }
}

describe("content that expires in the encrypted store", () => {
  verifies(["S5"], "is nowhere in the database any more, and its space is given back", async () => {
    const store = await fill(3000);
    const text = Array.from({ length: 4000 }, (_, i) => `the quick line ${i * 7919}`).join("\n");
    const large = { ...sampleEvents(session.id, 3001, 3001)[0], payload: { text } } as Envelope;
    await store.append(session.id, [large], "sync");
    const call = sampleIds(5).next("call");
    const intent = { call, session: session.id, tool: "bash", args_hash: "h", mutating: true };
    await store.intend({ ...intent, started_at: sampleTime(1) });
    await store.conclude(call, { outcome: "ok", completed_at: sampleTime(2), note: "the quick note" });
    await store.expire(session.id, 1);
    const before = (await stat(path)).size;
    await store.expire(session.id, 3001);
    expect((await stat(path)).size).toBeLessThan(before * 0.75);
    expect((await stat(`${path}-wal`)).size).toBe(0);
    await store.close();
    await withDatabase((database) => {
      const remaining = (column: string, rest: string) => database.select({ n: ["integer", column] }, rest)[0]?.n;
      expect(remaining("count(*)", "FROM blobs")).toBe(0);
      expect(remaining("count(*)", "FROM blob_uses")).toBe(0);
      expect(remaining("count(*)", "FROM events WHERE instr(body, 'quick') > 0")).toBe(0);
      expect(remaining("count(*)", "FROM calls WHERE note IS NOT NULL")).toBe(0);
      expect(remaining("freelist_count", "FROM pragma_freelist_count")).toBe(0);
    });
  });

  verifies(["S5", "S11"], "cannot be changed, moved or put back unseen", async () => {
    const body = Buffer.from(`${EXPIRED}!`);
    type Statement = readonly [sql: string, values: readonly Bindable[]];
    const cases: readonly (readonly [problem: LogProblem, event: number, ...statements: readonly Statement[]])[] = [
      ["changed", 5, ["UPDATE events SET encoding = 3, body = ? WHERE place = ?", [body, place(5)]]],
      ["unreadable", 5, ["UPDATE events SET body = ? WHERE place = ?", [body, place(5)]]],
      ["changed", 5, ["UPDATE events SET since = since + 1 WHERE place = ?", [place(5)]]],
      ["changed", 5, ["UPDATE events SET remains = ? WHERE place = ?", [Buffer.alloc(10), place(5)]]],
      ["changed", 5, ["UPDATE events SET remains = NULL WHERE place = ?", [place(5)]]],
      ["changed", 5, ["UPDATE events SET link = ? WHERE place = ?", [Buffer.alloc(10), place(5)]]],
      ["changed", 12, ["UPDATE events SET remains = link WHERE place = ?", [place(12)]]],
      ["missing", 5, ["DELETE FROM events WHERE place = ?", [place(5)]]],
      // Event 9 has its turn from event 8.
      ["changed", 9, ["UPDATE events SET origin = 9 - 18 WHERE place = ?", [place(9)]]],
      ["unreadable", 9, ["UPDATE events SET origin = 2 WHERE place = ?", [place(9)]]],
      ["head", 20, ["UPDATE sessions SET expired_to = 4", []]],
      [
        "changed",
        3,
        ["UPDATE events SET place = 1 WHERE place = ?", [place(3)]],
        ["UPDATE events SET place = ? WHERE place = ?", [place(3), place(4)]],
        ["UPDATE events SET place = ? WHERE place = 1", [place(4)]],
      ],
    ];
    for (const [problem, event_id, ...statements] of cases) {
      const made = await fill(20);
      await made.expire(session.id, 10);
      await made.close();
      await withDatabase((database) => {
        for (const [sql, values] of statements) database.run(sql, values);
      });
      const store = await open();
      expect(await store.verify(session.id), JSON.stringify(statements)).toMatchObject({
        ok: false,
        problem,
        event_id,
      });
      if (problem !== "head") await expect(read(store)).rejects.toMatchObject({ code: "damaged" });
      await store.close();
      await rm(path);
    }
  });

  verifies(["S5", "S11"], "is checked before it expires: changed content stays visible", async () => {
    const made = await fill(1200);
    await made.close();
    await withDatabase((database) =>
      database.run("UPDATE events SET body = ? WHERE place = ?", [Buffer.from("forged"), place(1101)]),
    );
    const store = await open();
    await expect(store.expire(session.id, 1200)).rejects.toMatchObject({ code: "damaged" });
    const expired = (await store.get(session.id))?.expired_to ?? 0;
    expect(expired).toBeGreaterThan(500);
    expect(expired).toBeLessThan(1101);
    expect(await store.verify(session.id)).toMatchObject({ ok: false, problem: "changed", event_id: 1101 });
    await store.close();
  });

  verifies(["S5"], "leaves the ids of turns and calls to the events that follow", async () => {
    const store = await fill(59);
    const events = sampleEvents(session.id, 1, 59);
    for (const last of [8, 58]) {
      await store.expire(session.id, last);
      const expected = events.map((event) => (event.id <= last ? withoutContent(event) : event));
      expect(await read(store)).toEqual(expected);
      // Event 59 begins with the turn of event 58, which this reader has not passed.
      expect(await read(store, 58)).toEqual(expected.slice(58));
    }
    await store.close();
  });

  it("refuses values that are not events", async () => {
    const store = await fill(3);
    for (const id of [0, -1, 1.5, Number.NaN, 2 ** 30]) {
      await expect(store.expire(session.id, id)).rejects.toMatchObject({ code: "invalid" });
    }
    expect(await read(store)).toEqual(sampleEvents(session.id, 1, 3));
    await store.close();
  });
});
