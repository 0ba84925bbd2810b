import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { turnsDuring } from "../../test/support/turns-during.js";
import { verifies } from "../../test/verifies.js";
import { createIdSource } from "../base/ulid.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventBody } from "../protocol/events.js";
import { NO_USAGE } from "../protocol/usage.js";
import { openFilesStore } from "./files/files-store.js";
import { type RecallOptions, recallPassages } from "./recall.js";
import { searchSessions } from "./search.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import { type SessionRecord, type SessionStore, StoreError } from "./store.js";

const START = Date.UTC(2026, 0, 31, 12);
const ids = createIdSource({ wall: () => START, random: (bytes) => globalThis.crypto.getRandomValues(bytes) });
const [client, call, turn] = [ids.next("cli"), ids.next("call"), ids.next("turn")];
const input = (text: string): EventBody => ({
  kind: "TurnStarted",
  payload: { turn, input: [{ type: "text", text }] },
});
const delta = (text: string): EventBody => ({ kind: "TextDelta", payload: { text } });
const runs = (command: string): EventBody => ({
  kind: "ToolCallStarted",
  payload: { call, tool: "bash", args: { command } },
});
const result = (text: string): EventBody => ({
  kind: "ToolResult",
  payload: { call, tool: "bash", status: "ok", content: [{ type: "text", text }] },
});
const ended: EventBody = {
  kind: "TurnEnded",
  payload: { turn, outcome: "answered", text: "", iterations: 1, usage: NO_USAGE },
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-recall-"));
});
afterEach(() => rm(folder, { recursive: true }));

const STORES: Readonly<Record<string, () => Promise<SessionStore>>> = {
  sqlite: () => openSqliteStore({ path: join(folder, "s.db"), key: new Uint8Array(32) }),
  files: () => openFilesStore({ folder: join(folder, "files") }),
};

async function fill(store: SessionStore, bodies: readonly EventBody[], day = 0): Promise<SessionRecord> {
  const id = ids.next("sess");
  const at = (second: number) => new Date(START + day * 86_400_000 + second * 1000).toISOString();
  await store.create({ id, log: ids.next("log"), cwd: "/w", provider: "p", model: "m", created_at: at(0) });
  const lease = await store.lease(id);
  const events = bodies.map(
    (body, i) => ({ id: i + 1, session: id, originator: client, ts: at(i), ...body }) as Envelope,
  );
  await store.append(id, events, "sync");
  await lease.release();
  return (await store.get(id)) as SessionRecord;
}

const LOG: readonly EventBody[] = [
  input("Which port has the test database?"),
  delta("It listens on port "),
  delta("5433."),
  ended,
  input("Deploy it, with its queries"),
  runs("make ship"),
  result(
    `noise\n\n${"filler line\n".repeat(400)}\nthe deployment token expires on Tuesdays\n${"filler line\n".repeat(400)}`,
  ),
  delta("Shipped."),
  ended,
];

describe.each(Object.keys(STORES))("recall in the store %s", (kind) => {
  verifies(["X7"], "finds passages by some of their words, the best first, and only where it may look", async () => {
    const store = await (STORES[kind] as () => Promise<SessionStore>)();
    const record = await fill(store, LOG);
    const find = async (query: string, options: RecallOptions = {}, before?: number) => {
      const hits = await recallPassages(store, { query, ranges: [{ record, before }] }, options);
      return hits.map(({ kind: part, turn: number, event }) => [part, number, event]);
    };
    expect((await find("what was the databases' port"))[0]).toEqual(["input", 1, 1]);
    expect(await find("5433")).toEqual([["answer", 1, 2]]);
    expect(await find("bases of data")).toEqual([]);
    const [long] = await recallPassages(store, { query: "when does the deploy token expire", ranges: [{ record }] });
    expect(long).toMatchObject({ kind: "result", tool: "bash", turn: 2, event: 7, session: record.id });
    expect(long?.text).toContain("expires on Tuesdays");
    expect(long?.text.length).toBeLessThanOrEqual(1_200);
    // The same word counts more in a shorter passage.
    expect(await find("ship")).toEqual([
      ["answer", 2, 8],
      ["call", 2, 6],
    ]);
    expect(await find("ship", { kinds: new Set(["answer"]) })).toEqual([["answer", 2, 8]]);
    expect(await find("ship", {}, 6)).toEqual([]);
    expect(await find("ship", { since: new Date(START + 7000).toISOString() })).toEqual([["answer", 2, 8]]);
    expect(await find("ship", { until: new Date(START + 7000).toISOString() })).toEqual([["call", 2, 6]]);
    expect(await find("ship", { unwanted: [/make/] })).toEqual([["answer", 2, 8]]);
    expect(await find("ship", { phrases: [/make\s+ship/] })).toEqual([["call", 2, 6]]);
    expect(await find("query")).toEqual([["input", 2, 5]]);
    expect(await find("filler").then((hits) => hits.length)).toBe(2);
    expect(await find("the of")).toEqual([]);
    await store.close();
  });
});

describe("recall", () => {
  it("finds text with the same meaning if there is an embedding model, and continues without one that fails", async () => {
    const store = await (STORES.sqlite as () => Promise<SessionStore>)();
    const record = await fill(store, LOG);
    const about = (text: string) =>
      Float32Array.of(/ship|rollout/i.test(text) ? 1 : 0, /ship|rollout/i.test(text) ? 0 : 1);
    const embedder = { embed: async (texts: readonly string[]) => texts.map(about) };
    const hits = await recallPassages(store, { query: "rollout", ranges: [{ record }] }, { embedder });
    expect(hits.map(({ event }) => event).sort()).toEqual([6, 8]);
    const reasons: string[] = [];
    const broken = { embed: () => Promise.reject(new Error("no server")) };
    const words = await recallPassages(
      store,
      { query: "5433", ranges: [{ record }] },
      { embedder: broken, onWordsOnly: (reason) => void reasons.push(reason) },
    );
    expect([words.length, reasons]).toEqual([1, ["no server"]]);
    await store.close();
  });

  /** A store of these inputs, one turn each: their texts, and the seconds at which they came. */
  const inputs = (...said: readonly (readonly [string, number])[]) => ({
    async *events(id: string) {
      for (const [at, [words, second]] of said.entries()) {
        const ts = new Date(START + second * 1000).toISOString();
        yield { id: at + 1, session: id, originator: client, ts, ...input(words) } as Envelope;
      }
    },
  });
  const range = (id = "sess_1", title?: string) => ({ record: { id, ...(title && { title }) } as SessionRecord });

  it("shows the newest of equal passages first, also of one moment", async () => {
    const store = inputs(["a lamp", 5], ["a lamp", 9], ["a lamp", 9], ["a lamp", 1]);
    const ask = { query: "lamp", ranges: [range("sess_1", "The tower")] };
    const hits = await recallPassages(store as never, ask);
    expect(hits.map(({ event }) => event)).toEqual([3, 2, 1, 4]);
    expect(hits[0]).toMatchObject({ title: "The tower", words: ["lamp"] });
    expect(await recallPassages(store as never, ask, { limit: 2 })).toHaveLength(2);
    const one = { embed: async (texts: readonly string[]) => texts.map(() => Float32Array.of(1)) };
    const meant = await recallPassages(store as never, { ...ask, query: "light" }, { embedder: one });
    expect(meant.map(({ event }) => event)).toEqual([3, 2, 1, 4]);
  });

  it("keeps the best of very many passages, and gives at most two of a turn and eight in all", async () => {
    const many = Array.from({ length: 4_100 }, (_, at) => [`lamp number${at}`, at] as const);
    const store = inputs(
      ["lamp and lens", 0],
      ...many.slice(0, 4_000),
      ["the lens of a lamp", 5_000],
      ...many.slice(4_000),
    );
    const progress: unknown[] = [];
    const hits = await recallPassages(
      store as never,
      { query: "lamp lens", ranges: [range("sess_1"), range("sess_2")] },
      { onProgress: (each) => void progress.push(each) },
    );
    expect(hits).toHaveLength(8);
    expect(
      hits
        .slice(0, 4)
        .map(({ event }) => event)
        .sort(),
    ).toEqual([1, 1, 4_002, 4_002]);
    expect(progress).toEqual([
      { sessions: 0, of: 2 },
      { sessions: 1, of: 2 },
    ]);
    const pieces = inputs([`${"lamp ".repeat(300)}\n\n`.repeat(4), 0]);
    expect(await recallPassages(pieces as never, { query: "lamp", ranges: [range()] })).toHaveLength(2);
  });

  it("embeds the newest passages alone, and takes those that are near", async () => {
    const many = Array.from({ length: 700 }, (_, at) => [`number${at}`, at] as const);
    const asked: (readonly string[])[] = [];
    const embed = async (texts: readonly string[]) => {
      asked.push(texts);
      return texts.map((words) => Float32Array.of(words === "q" ? 1 : Number(words.replace("number", "")) / 1000, 0));
    };
    const hits = await recallPassages(
      inputs(...many) as never,
      { query: "q", ranges: [range()] },
      { embedder: { embed } },
    );
    expect(asked.map((texts) => [texts.length, texts[1], texts.at(-1)])).toEqual([[301, "number699", "number400"]]);
    expect(hits.map(({ text }) => text)).toEqual(Array.from({ length: 8 }, (_, at) => `number${699 - at}`));
    const few = await recallPassages(
      inputs(["number299", 1], ["number300", 2]) as never,
      { query: "q", ranges: [range()] },
      { embedder: { embed } },
    );
    expect(few.map(({ text }) => text)).toEqual(["number300"]);
  });

  it("reports a log that it cannot read and goes on, and stops when it is cancelled", async () => {
    const broken = {
      async *events(id: string) {
        if (id === "sess_1") throw new StoreError("damaged", "It is damaged.");
        yield* inputs(["a lamp", 1]).events(id);
      },
    };
    const unread: unknown[] = [];
    const ask = { query: "lamp", ranges: [range("sess_1"), range("sess_2")] };
    const onUnreadable = (...told: unknown[]) => void unread.push(told);
    expect(await recallPassages(broken as never, ask, { onUnreadable })).toHaveLength(1);
    expect(unread).toEqual([["sess_1", "It is damaged."]]);
    const bug = {
      // biome-ignore lint/correctness/useYield: it fails at once
      async *events() {
        throw new Error("a bug");
      },
    };
    await expect(recallPassages(bug as never, ask)).rejects.toThrow("a bug");
    await expect(recallPassages(broken as never, ask, { signal: AbortSignal.abort() })).rejects.toThrow("abort");
    const abort = new AbortController();
    const endless = {
      async *events(id: string) {
        for (;;) {
          abort.abort();
          yield* inputs(["a lamp", 1]).events(id);
        }
      },
    };
    await expect(recallPassages(endless as never, ask, { signal: abort.signal })).rejects.toThrow("abort");
  });

  verifies(["S10"], "the search of sessions takes parts, times and one session as filters", async () => {
    const store = await (STORES.sqlite as () => Promise<SessionStore>)();
    const old = await fill(store, LOG);
    const fresh = await fill(store, LOG, 10);
    const places = async (query: string, options: Parameters<typeof searchSessions>[2]) => {
      const found: unknown[] = [];
      for await (const { session, event } of searchSessions(store, query, options))
        found.push([session === fresh.id, event]);
      return found;
    };
    expect(await places("ship", {})).toEqual([
      [true, 6],
      [false, 6],
    ]);
    expect(await places("ship", { session: old.id })).toEqual([[false, 6]]);
    expect(await places("ship", { kinds: new Set(["answer"]) })).toEqual([
      [true, 8],
      [false, 8],
    ]);
    const between = new Date(START + 5 * 86_400_000).toISOString();
    expect(await places("ship", { since: between })).toEqual([[true, 6]]);
    expect(await places("ship", { until: between })).toEqual([[false, 6]]);
    await store.close();
  });
});

describe("a search of long texts", () => {
  const LONG = "no such thing here\n".repeat(13_000);
  const COUNT = 12;
  /** A store whose batches cost nothing: what is counted is the search. */
  function longLog(record: SessionRecord) {
    const event = { id: 1, session: record.id, originator: client, ts: record.created_at, ...input(LONG) } as Envelope;
    return {
      list: async () => [record],
      get: async () => record,
      async *events() {
        for (let id = 1; id <= COUNT; id++) yield { ...event, id };
      },
    } as unknown as SessionStore;
  }

  it.each(Object.keys(STORES))(
    "lets others have their turns, also while a log of %s is read and verified",
    async (kind) => {
      const store = await (STORES[kind] as () => Promise<SessionStore>)();
      const texts = Array.from({ length: COUNT }, (_, at) => input(`${at} ${LONG}`));
      const record = await fill(store, texts);
      const read = async () => {
        for await (const _ of store.events(record.id));
      };
      expect(await turnsDuring(read)).toBeGreaterThanOrEqual(COUNT / 3);
      expect(await turnsDuring(() => store.verify(record.id))).toBeGreaterThanOrEqual(COUNT / 3);
      await store.close();
      const search = async (query: string) => {
        for await (const _ of searchSessions(longLog(record), query));
      };
      const recall = (query: string) => recallPassages(longLog(record), { query, ranges: [{ record }] });
      // In proportion to what is compared.
      expect(await turnsDuring(() => search("absent"))).toBeGreaterThanOrEqual(4);
      expect(await turnsDuring(() => search(`"${"no such ".repeat(100)}"`))).toBeGreaterThanOrEqual(50);
      expect(await turnsDuring(() => recall("thing"))).toBeGreaterThanOrEqual(4);
      for (const find of [search, recall]) {
        await expect(find("word ".repeat(300))).rejects.toThrow("A search has at most 1,000 characters.");
      }
    },
  );
});
