import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";
import type { Bindable } from "../../system/sqlite/bindable.js";
import { Database } from "../../system/sqlite/database.js";
import { describeStore } from "../../testkit/conformance/store.js";
import { type LogProblem, type SessionStore, StoreError } from "../store.js";
import { CommitQueue } from "./commit-queue.js";
import { databaseKey } from "./keys.js";
import { openSqliteStore } from "./sqlite-store.js";
import { SAMPLE_KEY, sampleEvent, sampleEvents, sampleIds, sampleSession, sampleTime } from "./test-support/sample.js";

describeStore(
  "sqlite",
  async () => {
    const place = await mkdtemp(join(tmpdir(), "oxbow-store-"));
    return {
      open: () => openSqliteStore({ path: join(place, "sessions.db"), key: SAMPLE_KEY }),
      discard: () => rm(place, { recursive: true }),
    };
  },
  { describe, it },
);

let folder: string;
let path: string;
const session = sampleSession(1);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-sqlite-"));
  path = join(folder, "data", "sessions.db");
});

afterEach(() => rm(folder, { recursive: true }));

const open = () => openSqliteStore({ path, key: SAMPLE_KEY });

async function fill(events: number): Promise<SessionStore> {
  const store = await open();
  await store.create(session);
  await store.append(session.id, sampleEvents(session.id, 1, events), "group");
  return store;
}

async function count(store: SessionStore, id: SessionId): Promise<number> {
  let events = 0;
  for await (const _ of store.events(id)) events++;
  return events;
}

type Statement = readonly [sql: string, values: readonly Bindable[]];

/** Changes rows directly, as an attacker with the key might. */
async function tamper(...statements: readonly Statement[]): Promise<void> {
  const database = await Database.open({ path, key: databaseKey(SAMPLE_KEY) });
  for (const [sql, values] of statements) database.run(sql, values);
  database.close();
}

/** The place of an event of the first session. */
const place = (id: number) => 2 ** 30 + id;

describe("the ledger", () => {
  const intent = (mutating: boolean) => ({
    ...{ call: sampleIds(mutating ? 3 : 4).next("call"), session: session.id, tool: "bash", args_hash: "h" },
    ...{ mutating, started_at: sampleTime(1) },
  });
  const conclusion = { outcome: "ok", completed_at: sampleTime(2) } as const;

  verifies(
    ["S3"],
    "has a call that changes something on the disk before it may begin, without waiting for others",
    async () => {
      // No time passes: what only a timer writes is never written.
      const store = await openSqliteStore({ path, key: SAMPLE_KEY, clock: new ManualClock() });
      await store.create(session);
      const done: string[] = [];
      const synced = vi.spyOn(Database.prototype, "syncLog").mockImplementation(async () => {
        done.push("sync begins");
        for (let tick = 0; tick < 5; tick++) await new Promise(setImmediate);
        done.push("sync ends");
      });
      try {
        const changing = intent(true);
        await store.intend(changing).then(() => done.push("may begin"));
        expect(done.splice(0)).toEqual(["sync begins", "sync ends", "may begin"]);
        expect(await store.orphans(session.id)).toMatchObject([{ call: changing.call, mutating: true }]);
        const concluded = store.conclude(changing.call, conclusion).then(() => done.push("ended"));
        expect(await store.orphans(session.id)).toEqual([]);
        await concluded;
        expect(done.splice(0)).toEqual(["sync begins", "sync ends", "ended"]);
        const reading = intent(false);
        void store.intend(reading);
        void store.conclude(reading.call, conclusion);
        expect(await store.orphans(session.id)).toEqual([]);
        expect(done).toEqual([]);
      } finally {
        synced.mockRestore();
      }
      await store.close();
    },
  );
});

describe("work of one commit", () => {
  const queueOf = async () => {
    const database = await Database.open({ path: join(folder, "queue.db"), key: databaseKey(SAMPLE_KEY) });
    database.script("CREATE TABLE t (n INTEGER)");
    const ends: string[] = [];
    const clock = new ManualClock();
    const queue = new CommitQueue({
      ...{ database, clock, delayMs: 10, together: (work) => work() },
      onRollback: () => ends.push("rollback"),
      onCommit: () => ends.push("commit"),
    });
    const write = (n: number) => () => () => void database.run("INSERT INTO t VALUES (?)", [n]);
    const rows = () => database.select({ n: "integer" }, "FROM t").map(({ n }) => n);
    return { database, queue, write, rows, ends, clock };
  };
  const fails = (error: Error) => () => {
    throw error;
  };

  it("that is refused fails alone", async () => {
    const { database, queue, write, rows, ends } = await queueOf();
    for (const code of ["conflict", "invalid", "not-found"] as const) {
      const before = queue.add("group", write(1));
      const refused = queue.add("group", fails(new StoreError(code, "no")));
      const after = queue.add("sync", write(2));
      await expect(refused).rejects.toMatchObject({ code });
      await Promise.all([before, after]);
    }
    expect([rows(), ends]).toEqual([
      [1, 2, 1, 2, 1, 2],
      ["commit", "commit", "commit"],
    ]);
    database.close();
  });

  it("fails together when anything else goes wrong, and nothing of it is written", async () => {
    const { database, queue, write, rows, ends } = await queueOf();
    for (const error of [new StoreError("full", "no"), new Error("a bug")]) {
      const all = [queue.add("group", write(1)), queue.add("group", fails(error)), queue.add("sync", write(2))];
      for (const each of all) await expect(each).rejects.toBe(error);
    }
    expect([rows(), ends]).toEqual([[], ["rollback", "rollback"]]);
    database.close();
  });

  it("waits for company a few milliseconds, and no longer than for a thousand", async () => {
    const { database, queue, write, rows, clock } = await queueOf();
    const first = queue.add("group", write(1));
    clock.advance(9);
    expect(rows()).toEqual([]);
    clock.advance(1);
    await first;
    expect([rows(), clock.pending]).toEqual([[1], 0]);
    const many = Array.from({ length: 1_000 }, (_, n) => queue.add("group", write(n)));
    expect([rows().length, clock.pending]).toEqual([1_001, 0]);
    await Promise.all(many);
    database.close();
  });
});

describe("the encrypted session store", () => {
  verifies(["S1"], "holds no plain text of the conversation, open or closed, and is the user's alone", async () => {
    const store = await fill(120);
    await store.intend({
      call: sampleIds(3).next("call"),
      session: session.id,
      tool: "bash",
      args_hash: "a hash in the ledger",
      mutating: true,
      started_at: sampleTime(1),
    });
    const needles = [
      "quick conversation",
      " large ",
      "secret-project",
      "plain title",
      "hash in the ledger",
      "SQLite",
      "TextDelta",
    ];
    // The side files of a closed database go when the library lets go of them, which may be while we look.
    const ifGone = (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return undefined;
    };
    const look = async () => {
      for (const name of await readdir(join(folder, "data"))) {
        const file = join(folder, "data", name);
        const status = await stat(file).catch(ifGone);
        const bytes = await readFile(file).catch(ifGone);
        if (status === undefined || bytes === undefined) continue;
        expect(status.mode & 0o777, name).toBe(0o600);
        for (const needle of needles) expect(bytes.includes(needle), `${needle} in ${name}`).toBe(false);
      }
    };
    await look();
    await store.close();
    await look();
    expect((await stat(join(folder, "data"))).mode & 0o777).toBe(0o700);
  });

  verifies(["S1"], "keeps large content once and compressed, and frees it with its last session", async () => {
    const store = await open();
    const text = Array.from({ length: 4000 }, (_, i) => `line ${i * 7919} of a long output`).join("\n");
    const other = sampleSession(2);
    for (const each of [session, other]) {
      await store.create(each);
      const events = sampleEvents(each.id, 1, 20).map((event) => ({ ...event, payload: { text } }) as Envelope);
      await store.append(each.id, events, "sync");
    }
    await store.close();
    const size = (await stat(path)).size;
    expect(size).toBeLessThan(text.length);
    const again = await open();
    await again.remove(session.id);
    expect(await count(again, other.id)).toBe(20);
    expect(await again.verify(other.id)).toEqual({ ok: true, events: 20 });
    await again.remove(other.id);
    await again.close();
    expect((await stat(path)).size).toBeLessThan(size - 16_000);
  });

  verifies(["S11"], "finds a changed, missing, moved, added or cut event", async () => {
    const swap: readonly Statement[] = [
      ["UPDATE events SET place = ? WHERE place = ?", [1, place(3)]],
      ["UPDATE events SET place = ? WHERE place = ?", [place(3), place(4)]],
      ["UPDATE events SET place = ? WHERE place = ?", [place(4), 1]],
    ];
    const body = Buffer.from("forged");
    const earlierHead =
      "UPDATE sessions SET last_event = 9, last_link = (SELECT link FROM events WHERE place = ?) WHERE number = 1";
    const cases: readonly (readonly [problem: LogProblem, event: number, statements: readonly Statement[]])[] = [
      ["changed", 5, [["UPDATE events SET body = ? WHERE place = ?", [body, place(5)]]]],
      ["changed", 5, [["UPDATE events SET since = since + 1 WHERE place = ?", [place(5)]]]],
      ["changed", 1, [["UPDATE names SET name = 'ThinkingDelta' WHERE name = 'TextDelta'", []]]],
      ["changed", 5, [["UPDATE events SET link = ? WHERE place = ?", [Buffer.alloc(10), place(5)]]]],
      ["changed", 3, swap],
      ["missing", 5, [["DELETE FROM events WHERE place = ?", [place(5)]]]],
      ["missing", 1, [["DELETE FROM events WHERE place = ?", [place(1)]]]],
      ["truncated", 10, [["DELETE FROM events WHERE place = ?", [place(10)]]]],
      ["truncated", 1, [["DELETE FROM events", []]]],
      [
        "head",
        9,
        [
          ["DELETE FROM events WHERE place = ?", [place(10)]],
          [earlierHead, [place(9)]],
        ],
      ],
      ["head", 9, [[earlierHead, [place(9)]]]],
      [
        "added",
        11,
        [
          [
            `INSERT INTO events SELECT place + 1, kind, originator, since, encoding, origin, body, holes, remains, link
             FROM events WHERE place = ?`,
            [place(10)],
          ],
        ],
      ],
      ["unreadable", 5, [["UPDATE events SET encoding = 1 WHERE place = ?", [place(5)]]]],
      ["unreadable", 5, [["UPDATE events SET encoding = 9 WHERE place = ?", [place(5)]]]],
    ];
    for (const [problem, event_id, statements] of cases) {
      await (await fill(10)).close();
      await tamper(...statements);
      const store = await open();
      expect(await store.verify(session.id), `${problem} ${event_id}`).toMatchObject({ ok: false, problem, event_id });
      if (["changed", "missing", "unreadable", "truncated"].includes(problem)) {
        await expect(count(store, session.id)).rejects.toMatchObject({ code: "damaged" });
      }
      await store.close();
      await rm(join(folder, "data"), { recursive: true });
    }
  });

  verifies(["S11"], "finds a changed or lost large content", async () => {
    for (const statement of ["UPDATE blobs SET body = x'00', encoding = 0", "DELETE FROM blobs"]) {
      await (await fill(60)).close();
      await tamper([statement, []]);
      const store = await open();
      expect(await store.verify(session.id)).toMatchObject({ ok: false, problem: "unreadable", event_id: 50 });
      const read: number[] = [];
      for await (const { id } of store.events(session.id, { after: 50 })) read.push(id);
      expect(read).toHaveLength(10);
      await expect(count(store, session.id)).rejects.toMatchObject({ code: "damaged" });
      await store.close();
      await rm(join(folder, "data"), { recursive: true });
    }
  });

  verifies(["S11"], "does not take another session's events for its own", async () => {
    const store = await fill(5);
    const other = sampleSession(2);
    await store.create(other);
    await store.append(other.id, sampleEvents(other.id, 1, 5), "group");
    await store.close();
    await tamper(
      ["DELETE FROM events WHERE place < ?", [place(6)]],
      ["UPDATE events SET place = place - ?", [2 ** 30]],
    );
    const again = await open();
    expect(await again.verify(session.id)).toMatchObject({ ok: false, problem: "changed", event_id: 1 });
    await again.close();
  });

  it("reports a session that another process removes during a read", async () => {
    const [reader, other] = [await fill(2000), await open()];
    const read = async () => {
      for await (const { id } of reader.events(session.id)) if (id === 10) await other.remove(session.id);
    };
    await expect(read()).rejects.toMatchObject({ code: "not-found" });
    await reader.close();
    await other.close();
  });

  it("undoes a whole group when the database fails in the middle, and continues", async () => {
    const store = await fill(3);
    await tamper([
      "CREATE TRIGGER full BEFORE INSERT ON events WHEN NEW.place = 1073741830 BEGIN SELECT RAISE(ABORT, 'no'); END",
      [],
    ]);
    const fresh = { ...sampleEvent(session.id, 5), originator: sampleIds(9).next("cli") };
    const attempts = [
      store.append(session.id, [sampleEvent(session.id, 4)], "group"),
      store.append(session.id, [fresh, sampleEvent(session.id, 6)], "group"),
    ];
    for (const attempt of attempts) await expect(attempt).rejects.toThrow("no");
    await tamper(["DROP TRIGGER full", []]);
    await store.append(session.id, [sampleEvent(session.id, 4), fresh, sampleEvent(session.id, 6)], "sync");
    expect(await store.verify(session.id)).toEqual({ ok: true, events: 6 });
    await store.close();
  });
});
