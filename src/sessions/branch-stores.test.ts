/** Branches in the stores: what they cost, and how a changed one is detected. The rules are in testkit/conformance. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import type { Envelope } from "../protocol/envelope.js";
import { NO_USAGE } from "../protocol/usage.js";
import { Database } from "../system/sqlite/database.js";
import { withNewIds } from "./branch.js";
import { openFilesStore } from "./files/files-store.js";
import { databaseKey } from "./sqlite/keys.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import { SAMPLE_KEY, sampleIds, sampleSession, sampleTime } from "./sqlite/test-support/sample.js";
import type { NewBranch, SessionStore } from "./store.js";

const TURNS = 2000;
const WORDS = 8;
const source = sampleSession(1);
const branch: NewBranch = { ...sampleSession(2), branch_of: { session: source.id, event: TURNS * (WORDS + 2) } };
const originator = sampleIds(3).next("cli");
let folder: string;
let store: SessionStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-branch-"));
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const STORES = {
  sqlite: () => openSqliteStore({ path: join(folder, "s.db"), key: SAMPLE_KEY }),
  files: () => openFilesStore({ folder, key: SAMPLE_KEY }),
};

function longLog(turns: number): Envelope[] {
  const ids = sampleIds(4);
  const events: Envelope[] = [];
  const add = (kind: string, payload: object) => {
    const id = events.length + 1;
    events.push({ id, kind, session: source.id, originator, ts: sampleTime(id), payload } as unknown as Envelope);
  };
  for (let i = 1; i <= turns; i++) {
    const turn = ids.next("turn");
    add("TurnStarted", { turn, input: [{ type: "text", text: `question ${i}` }] });
    for (let word = 1; word <= WORDS; word++) add("TextDelta", { text: `word ${word} of answer ${i}, ` });
    add("TurnEnded", { turn, outcome: "answered", text: "", iterations: 1, usage: NO_USAGE });
  }
  return events;
}

async function read(session: NewBranch["id"]): Promise<Envelope[]> {
  const found: Envelope[] = [];
  for await (const event of store.events(session)) found.push(event);
  return found;
}

async function processorMs(action: () => Promise<unknown>): Promise<number> {
  const begun = process.cpuUsage();
  await action();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

for (const [name, open] of Object.entries(STORES)) {
  describe(`a branch in the store ${name}`, () => {
    verifies(
      ["S6"],
      "takes less work than reading the log it begins with, and has its events with new ids",
      async () => {
        store = await open();
        const events = longLog(TURNS);
        // The store `files` makes a file of each message; those of an import come with it.
        await store.create(source, { events: events.slice(0, WORDS + 2) });
        await store.append(source.id, events.slice(WORDS + 2), "sync");
        await store.editedConversation?.(source.id);
        const reading = await processorMs(() => read(source.id));
        const branching = await processorMs(() => store.branch(branch));
        expect(branching).toBeLessThan(reading);
        expect(await read(branch.id)).toEqual(
          events.map((event) => withNewIds(event, { session: branch.id, log: branch.log })),
        );
      },
    );

    verifies(["S4", "S6"], "does not verify when its beginning or its origin was changed", async () => {
      const short = { ...branch, branch_of: { session: source.id, event: 2 * (WORDS + 2) } };
      const ends: string[] = [];
      for (const change of CHANGES[name as keyof typeof STORES]) {
        await rm(folder, { recursive: true });
        store = await open();
        await store.create(source, { events: longLog(2) });
        await store.branch(short);
        await store.close();
        await change(short);
        store = await open();
        const found = await store.verify(short.id);
        ends.push(found.ok ? "ok" : found.problem);
        await expect(read(short.id)).rejects.toMatchObject({ code: "damaged" });
        expect(await store.verify(source.id)).toMatchObject({ ok: true });
        await store.close();
      }
      expect(ends).toEqual(["changed", "changed", "changed"]);
    });
  });
}

const inDatabase = (sql: string) => async () => {
  const database = await Database.open({ path: join(folder, "s.db"), key: databaseKey(SAMPLE_KEY) });
  database.run(sql);
  database.close();
};

const inFile = (file: string, from: RegExp, to: string) => async (session: NewBranch) => {
  const path = join(folder, session.id, file);
  const text = await readFile(path, "utf8");
  expect(text).toMatch(from);
  await writeFile(path, text.replace(from, to));
};

const CHANGES = {
  sqlite: [
    inDatabase("UPDATE events SET since = since + 1 WHERE place = 2 * 1073741824 + 3"),
    inDatabase("DELETE FROM ancestors"),
    inDatabase("UPDATE ancestors SET last_event = 7"),
  ],
  files: [
    inFile("events.jsonl", /^\{"id":3,/m, '{"id":2,'),
    inFile("session.conf", /ancestors=.*\n/, ""),
    inFile("session.conf", /ancestors=20/, "ancestors=7"),
  ],
};
