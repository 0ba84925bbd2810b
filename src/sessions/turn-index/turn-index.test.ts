import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { createIdSource } from "../../base/ulid.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventBody } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { NO_USAGE } from "../../protocol/usage.js";
import { openFilesStore } from "../files/files-store.js";
import { recallPassages } from "../recall.js";
import { openSqliteStore } from "../sqlite/sqlite-store.js";
import type { SessionRecord, SessionStore } from "../store.js";

const START = Date.UTC(2026, 0, 31, 12);
const ids = createIdSource({ wall: () => START, random: (bytes) => globalThis.crypto.getRandomValues(bytes) });
const [client, turn] = [ids.next("cli"), ids.next("turn")];
let folder: string;
let store: SessionStore;
const key = new Uint8Array(32);
const indexPath = () => join(folder, "search.db");
const STORES = {
  sqlite: () => openSqliteStore({ path: join(folder, "sessions.db"), key }),
  files: () => openFilesStore({ folder: join(folder, "files"), key, index: indexPath() }),
};
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-index-"));
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const input = (text: string): EventBody => ({
  kind: "TurnStarted",
  payload: { turn, input: [{ type: "text", text }] },
});
const delta = (text: string): EventBody => ({ kind: "TextDelta", payload: { text } });
const ended: EventBody = {
  kind: "TurnEnded",
  payload: { turn, outcome: "answered", text: "", iterations: 1, usage: NO_USAGE },
};

async function append(id: SessionId, bodies: readonly EventBody[]): Promise<void> {
  const { last_event: last } = (await store.get(id)) as SessionRecord;
  const ts = (at: number) => new Date(START + at * 1000).toISOString();
  const events = bodies.map(
    (body, i) => ({ id: last + i + 1, session: id, originator: client, ts: ts(last + i), ...body }) as Envelope,
  );
  await store.append(id, events, "group");
}

async function session(turns: readonly string[]): Promise<SessionId> {
  const id = ids.next("sess");
  await store.create({
    id,
    log: ids.next("log"),
    cwd: "/w",
    provider: "p",
    model: "m",
    created_at: new Date(START).toISOString(),
  });
  await append(
    id,
    turns.flatMap((words) => [input(words), delta(`An answer about ${words}`), ended]),
  );
  return id;
}

async function find(query: string, indexFrom = 0, before?: number) {
  const ranges = (await store.list()).map((record) => ({ record, before }));
  const hits = await recallPassages(store, { query, ranges }, { indexFrom, limit: 20 });
  return hits.map(({ session: id, turn: number, event, kind }) => [id, number, event, kind]);
}

describe.each(["sqlite", "files"] as const)("the index of words of the store %s", (kind) => {
  const open = STORES[kind];
  beforeEach(async () => {
    store = await open();
  });

  verifies(
    ["X7", "S10"],
    "finds what reading every log finds, also behind its end and after more was said",
    async () => {
      const birds = ["heron", "kingfisher", "plover", "wren"];
      const [one, two] = [
        await session(birds.map((bird) => `the nest of a ${bird}`)),
        await session(["a wren", "nothing else"]),
      ];
      expect(existsSync(indexPath())).toBe(false);
      const compare = async (query: string, before?: number) => {
        const found = await find(query, 0, before);
        expect(found, query).toEqual(await find(query, Number.POSITIVE_INFINITY, before));
        return found;
      };
      expect((await compare("kingfishers"))[0]).toEqual([one, 2, 4, "input"]);
      expect((await compare("wren")).length).toBe(4);
      expect(await compare("zebra")).toEqual([]);
      expect(await compare("plover", 7)).toEqual([]);
      // A turn that is not over yet, and one that never ended.
      await append(two, [input("the zebra"), input("the okapi"), delta("okapi"), ended, input("the wren again")]);
      expect(await compare("zebra")).toEqual([[two, 3, 7, "input"]]);
      expect((await compare("okapi")).length).toBe(2);
      expect((await compare("wren")).length).toBe(5);
      await append(two, [delta("Wren!"), ended]);
      expect((await compare("wren")).length).toBe(6);
    },
  );

  verifies(["X7", "S5"], "loses the words of what is deleted or expires", async () => {
    const [one, two] = [await session(["the heron nests", "the plover"]), await session(["the wren"])];
    await find("heron");
    const marks = async () => {
      const turns = store.turns as NonNullable<SessionStore["turns"]>;
      const records = (await store.list()).map((record) => ({ ...record }));
      const both = [...records, { ...(records[0] as SessionRecord), id: one }];
      return (await turns.find(both, ["heron"], { limit: 9, budgetMs: 0 })).spans.length;
    };
    expect(await marks()).toBe(1);
    await store.expire(one, 3);
    expect(await find("heron")).toEqual([]);
    expect((await find("plover")).length).toBe(2);
    await store.remove(two);
    expect(await find("wren")).toEqual([]);
  });

  it("is made again when it is damaged, and shared by processes", async () => {
    const one = await session(["the heron"]);
    expect((await find("heron")).length).toBe(2);
    const other = await open();
    const ranges = [{ record: (await other.get(one)) as SessionRecord }];
    await append(one, [input("the heron again"), delta("yes"), ended]);
    expect((await find("again")).length).toBe(1);
    expect((await recallPassages(other, { query: "heron", ranges }, { indexFrom: 0 })).length).toBeGreaterThan(0);
    await other.close();
    await store.close();
    const bytes = await readFile(indexPath());
    expect(bytes.includes("heron")).toBe(false);
    await writeFile(indexPath(), bytes.fill(7, 0, 4096));
    store = await open();
    expect((await find("again")).length).toBe(1);
    expect((await find("heron")).length).toBe(3);
  });

  it("finds Korean, Thai and Greek as reading does", async () => {
    const one = await session(["서울의 날씨", "กรุงเทพ", "ΛΌΓΟΣ", "naïve Façade"]);
    for (const [query, turnNumber] of Object.entries({ 서울: 1, กรุง: 2, λόγος: 3, facade: 4 })) {
      const found = await find(query);
      expect(found[0]?.slice(0, 2), query).toEqual([one, turnNumber]);
      expect(found, query).toEqual(await find(query, Number.POSITIVE_INFINITY));
    }
  });
});

describe("the index of words of the store files", () => {
  it("loses the words of a session whose folder a user deletes", async () => {
    store = await STORES.files();
    const [one, two] = [await session(["the heron nests"]), await session(["the wren"])];
    await find("heron");
    const records = await store.list();
    await store.close();
    await rm(join(folder, "files", one), { recursive: true });
    store = await STORES.files();
    const turns = store.turns as NonNullable<SessionStore["turns"]>;
    const marks = async (word: string) =>
      (await turns.find(records, [word], { limit: 9, budgetMs: 0 })).spans.map(({ session: id }) => id);
    expect([await marks("heron"), await marks("wren")]).toEqual([[], [two]]);
  });
});
