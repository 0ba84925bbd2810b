import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { createIdSource } from "../base/ulid.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventBody } from "../protocol/events.js";
import type { SessionId } from "../protocol/ids.js";
import { NO_USAGE } from "../protocol/usage.js";
import { type SearchHit, type SearchOptions, searchSessions } from "./search.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import type { SessionStore } from "./store.js";

const START = Date.UTC(2026, 0, 31, 12);
let folder: string;
let store: SessionStore;
let now: number;
const ids = createIdSource({ wall: () => START, random: (bytes) => globalThis.crypto.getRandomValues(bytes) });
const client = ids.next("cli");
const call = ids.next("call");
const turn = ids.next("turn");

beforeEach(async () => {
  now = START;
  folder = await mkdtemp(join(tmpdir(), "oxbow-search-"));
  store = await openSqliteStore({ path: join(folder, "s.db"), key: new Uint8Array(32) });
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
const cost: EventBody = {
  kind: "CostIncremented",
  payload: { turn, provider: "p", model: "m", usage: NO_USAGE, elapsed_ms: 1 },
};
const runs = (command: string): EventBody => ({
  kind: "ToolCallStarted",
  payload: { call, tool: "bash", args: { command, deep: [{ lines: 7041 }] } },
});
const result = (text: string): EventBody => ({
  kind: "ToolResult",
  payload: { call, tool: "bash", status: "ok", content: [{ type: "text", text }] },
});
const ended = (text: string): EventBody => ({
  kind: "TurnEnded",
  payload: { turn, outcome: "answered", text, iterations: 1, usage: NO_USAGE },
});

async function session(
  bodies: readonly EventBody[],
  more: { readonly title?: string; readonly cwd?: string } = {},
): Promise<SessionId> {
  const id = ids.next("sess");
  const fixed = { cwd: "/project", provider: "p", model: "m", created_at: new Date(now).toISOString() };
  await store.create({ id, log: ids.next("log"), ...fixed, ...more });
  const events = bodies.map((body, i) => {
    now += 1000;
    return { id: i + 1, session: id, originator: client, ts: new Date(now).toISOString(), ...body } as Envelope;
  });
  await store.append(id, events, "group");
  return id;
}

async function search(query: string, options: SearchOptions = {}): Promise<SearchHit[]> {
  const hits: SearchHit[] = [];
  for await (const hit of searchSessions(store, query, options)) hits.push(hit);
  return hits;
}

const marked = ({ snippet, ranges }: SearchHit) =>
  ranges.reduceRight((text, [from, to]) => `${text.slice(0, from)}[${text.slice(from, to)}]${text.slice(to)}`, snippet);
const places = (hits: readonly SearchHit[]) => hits.map(({ turn: number, event, kind }) => [number, event, kind]);

describe("the search", () => {
  verifies(["S10"], "finds words in inputs, answers, arguments, results and titles", async () => {
    const id = await session(
      [
        input("Please repair the boiler"),
        delta("The thermo"),
        delta("stat is bro"),
        cost,
        runs("cat boiler.log"),
        result("pressure low"),
        delta("Done: pressure is fine."),
        cost,
        ended("Done: pressure is fine."),
        input("and the radiator?"),
        ended("It is cold."),
      ],
      { title: "Heating at home" },
    );
    expect(places(await search("boiler"))).toEqual([[1, 1, "TurnStarted"]]);
    expect(places(await search("thermostat"))).toEqual([[1, 2, "TextDelta"]]);
    expect(places(await search("stat is"))).toEqual([[1, 3, "TextDelta"]]);
    expect(places(await search("boiler.log"))).toEqual([[1, 5, "ToolCallStarted"]]);
    expect(places(await search("7041"))).toEqual([[1, 5, "ToolCallStarted"]]);
    expect(places(await search("low"))).toEqual([[1, 6, "ToolResult"]]);
    expect(places(await search("cold"))).toEqual([[2, 11, "TurnEnded"]]);
    const [hit] = await search("HEATING");
    expect(hit).toEqual({
      session: id,
      title: "Heating at home",
      turn: 0,
      event: 0,
      kind: "title",
      ts: new Date(now).toISOString(),
      snippet: "Heating at home",
      ranges: [[0, 7]],
    });
    // The end of one answer and the beginning of the next are not one word.
    expect(await search("broDone")).toEqual([]);
    expect(await search("bash")).toEqual([]);
  });

  verifies(["S10"], "requires all words in one turn and exact phrases, and excludes `-words`", async () => {
    await session([
      input("alpha beta gamma"),
      result("delta\n   epsilon"),
      input("alpha only"),
      delta("gamma  rays"),
      cost,
      input("beta"),
    ]);
    const turns = async (query: string) => (await search(query)).map((hit) => hit.turn);
    expect(await turns("alpha")).toEqual([2, 1]);
    expect(await turns("alpha epsilon")).toEqual([1]);
    expect(await turns("alpha gamma")).toEqual([2, 1]);
    expect(await turns('"alpha beta"')).toEqual([1]);
    expect(await turns('"alpha gamma"')).toEqual([]);
    expect(await turns('"delta epsilon"')).toEqual([1]);
    expect(await turns('"gamma rays')).toEqual([2]);
    expect(await turns("alpha -epsilon")).toEqual([2]);
    expect(await turns('gamma -"alpha only"')).toEqual([1]);
    expect(await turns("beta -alpha")).toEqual([3]);
    expect(await turns("alpha.*gamma")).toEqual([]);
    for (const empty of ["", "  ", "-alpha", '""']) {
      await expect(search(empty)).rejects.toMatchObject({ code: "invalid" });
    }
  });

  verifies(["S10"], "ignores case and accents, and marks the matches in the original text", async () => {
    await session([
      input("Le Café de l'Été: 𝄞 ÉTÉ, e\u0301te\u0301, ﬁn, ΟΔΟΣ"),
      input(`${"padding ".repeat(40)}needle\n\n   in the ${"hay ".repeat(100)}`),
    ]);
    const first = async (query: string) => marked((await search(query))[0] as SearchHit);
    expect(await first("ete")).toBe("Le Café de l'[Été]: 𝄞 [ÉTÉ], [e\u0301te\u0301], ﬁn, ΟΔΟΣ");
    expect(await first("CAFÉ")).toContain("[Café]");
    expect(await first("fin")).toContain("[ﬁn]");
    expect(await first("f")).toContain("[f]");
    expect(await first("οδος")).toContain("[ΟΔΟΣ]");
    expect(await first("cafe de fin")).toContain("Le [Café] [de] l'");
    expect(await first('"needle in"')).toMatch(/^…g (padding )+\[needle in\] the (hay )+hay…$/);
  });

  verifies(["S10"], "shows the newest first, no more than asked, of one folder if asked", async () => {
    const older = await session([input("word one"), input("word two")], { cwd: "/other" });
    const newer = await session([input("word three"), input("nothing"), input("word four")]);
    const found = async (options: SearchOptions) =>
      (await search("word", options)).map(({ session: id, turn: number }) => [id, number]);
    expect(await found({})).toEqual([
      [newer, 3],
      [newer, 1],
      [older, 2],
      [older, 1],
    ]);
    expect(await found({ limit: 3 })).toEqual([
      [newer, 3],
      [newer, 1],
      [older, 2],
    ]);
    expect(await found({ limit: 1 })).toEqual([[newer, 3]]);
    expect(await found({ cwd: "/other" })).toEqual([
      [older, 2],
      [older, 1],
    ]);
    const progress: string[] = [];
    await found({ onProgress: ({ sessions, of }) => progress.push(`${sessions}/${of}`) });
    expect(progress).toEqual(["0/2", "1/2", "2/2"]);
  });

  verifies(["S10", "S5"], "finds nothing in what has expired, and still counts its turns", async () => {
    const id = await session([input("secret plan"), delta("secret answer"), cost, input("secret again")]);
    await store.expire(id, 3);
    expect((await search("secret")).map((hit) => hit.turn)).toEqual([2]);
    for (const query of ["ttl", "expired", "«ttl-expired»"]) expect(await search(query)).toEqual([]);
  });

  verifies(["S10", "S5"], "does not find an expired answer by the end of its turn, which repeats it", async () => {
    const id = await session([input("go"), delta("secret answer"), cost, ended("secret answer")]);
    expect(places(await search("answer"))).toEqual([[1, 2, "TextDelta"]]);
    await store.expire(id, 3);
    expect(await search("answer")).toEqual([]);
  });

  it("finds words anywhere in a very long answer", async () => {
    const pieces = Array.from({ length: 3000 }, (_, i) => delta(`${i} `.padEnd(300, "filler ")));
    const at = 2 * Math.floor((256 * 1024) / 300);
    await session([input("go"), ...pieces.slice(0, at), delta("nee"), delta("dle"), ...pieces.slice(at), cost]);
    expect(places(await search("needle"))).toEqual([[1, at + 2, "TextDelta"]]);
    expect(places(await search("needle 2999"))).toHaveLength(1);
  });

  verifies(["S10"], "skips a session that cannot be read, and reports it", async () => {
    const good = await session([input("word")]);
    const bad = await session([input("word"), input("other"), input("word")]);
    const broken: SessionStore = Object.create(store, {
      events: {
        async *value(id: SessionId) {
          let count = 0;
          for await (const event of store.events(id)) {
            if (id === bad && ++count === 3) await store.get("x" as SessionId).then(() => store.expire(id, -1));
            yield event;
          }
        },
      },
      list: { value: () => store.list() },
    });
    const notes: string[] = [];
    const hits: SearchHit[] = [];
    const options = { onUnreadable: (id: SessionId, message: string) => notes.push(`${id} ${message}`) };
    for await (const hit of searchSessions(broken, "word", options)) hits.push(hit);
    expect(hits.map((hit) => [hit.session, hit.turn])).toEqual([
      [bad, 1],
      [good, 1],
    ]);
    expect(notes).toEqual([`${bad} -1 is not an event id.`]);
  });

  it("stops when it is cancelled, even in the middle of a session", async () => {
    await session([input("word"), ...Array.from({ length: 5000 }, (_, i) => delta(`${i}`))]);
    const controller = new AbortController();
    setImmediate(() => setImmediate(() => controller.abort(new Error("stopped"))));
    await expect(search("word", { signal: controller.signal })).rejects.toThrow("stopped");
    await expect(search("word", { signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  });
});
