import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { isThorough, times } from "../../test/support/thorough.js";
import { verifies } from "../../test/verifies.js";
import { originOf } from "../base/message-origin.js";
import { createIdSource } from "../base/ulid.js";
import { text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventBody } from "../protocol/events.js";
import type { SessionId } from "../protocol/ids.js";
import { NO_USAGE } from "../protocol/usage.js";
import type { Bindable } from "../system/sqlite/bindable.js";
import { Database } from "../system/sqlite/database.js";
import { condenseSession, readConversation, startOf } from "./condense.js";
import { rebuildConversation } from "./conversation.js";
import { openFilesStore } from "./files/files-store.js";
import { readStoredSession } from "./resume.js";
import { databaseKey } from "./sqlite/keys.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import { type NewSession, type SessionStore, STRETCH_EVENTS } from "./store.js";

const KEY = new Uint8Array(32).fill(7);
const ids = createIdSource({ wall: Date.now, random: (bytes) => crypto.getRandomValues(bytes) });
const originator = ids.next("cli");
const turn = ids.next("turn");
const calls = [ids.next("call"), ids.next("call"), ids.next("call")] as const;
let folder: string;
let store: SessionStore;
let read: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-condense-"));
  store = await open();
  read = 0;
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

/** A store, counting the events that are read from it. */
async function open(kind: "sqlite" | "files" = "sqlite"): Promise<SessionStore> {
  const opened =
    kind === "sqlite"
      ? await openSqliteStore({ path: join(folder, "sessions.db"), key: KEY, groupDelayMs: 0 })
      : await openFilesStore({ folder, key: KEY });
  const { events } = opened;
  opened.events = async function* (...range) {
    for await (const event of events.apply(opened, range)) {
      read++;
      yield event;
    }
  };
  return opened;
}

async function newSession(more: Pick<NewSession, "branch_of"> = {}): Promise<SessionId> {
  const id = ids.next("sess");
  const created_at = "2026-01-31T12:00:00.000Z";
  await store.create({ id, log: ids.next("log"), cwd: "/w", provider: "p", model: "m", created_at, ...more });
  return id;
}

async function append(session: SessionId, bodies: readonly EventBody[]): Promise<void> {
  const last = (await store.get(session))?.last_event ?? 0;
  const ts = "2026-01-31T12:00:00.000Z";
  const events = bodies.map((body, i) => ({ id: last + 1 + i, session, originator, ts, ...body }) as Envelope);
  await store.append(session, events, "group");
}

async function recordOf(session: SessionId) {
  const record = await store.get(session);
  if (record === undefined) throw new Error(`${session} is not there`);
  return record;
}

const started = (words: string, queued = 0): EventBody => ({
  kind: "TurnStarted",
  payload: { turn, input: [text(words)], ...(queued > 0 && { queued }) },
});
const said = (words: string): EventBody => ({ kind: "TextDelta", payload: { text: words } });
const asked = (call: (typeof calls)[number]): EventBody => ({
  kind: "ToolCallStarted",
  payload: { call, tool: "bash", args: { command: "ls" } },
});
const result = (call: (typeof calls)[number], output: string): EventBody => ({
  kind: "ToolResult",
  payload: { call, tool: "bash", status: "ok", content: [text(output)] },
});
const paid: EventBody = {
  kind: "CostIncremented",
  payload: { turn, provider: "p", model: "m", usage: { ...NO_USAGE, input: 3 }, elapsed_ms: 5 },
};
const ended: EventBody = {
  kind: "TurnEnded",
  payload: { turn, outcome: "answered", text: "", iterations: 1, usage: NO_USAGE },
};
const interrupted: EventBody = {
  kind: "TurnEnded",
  payload: {
    ...ended.payload,
    outcome: "failed",
    failure: { reason: "Interrupted", message: "stopped", retryable: false },
  },
};
const summed = (summary: string): EventBody => ({ kind: "CompactionTriggered", payload: { reason: "size", summary } });

/** Turns of ten events, or more: a prompt, a call with its result, an answer. */
function turns(from: number, count: number, events = 10): EventBody[] {
  return Array.from({ length: count }, (_, i) => [
    started(`prompt ${from + i}`),
    ...Array.from({ length: events - 8 }, (_, word) => said(`Let me see ${word}. `)),
    asked(calls[0]),
    paid,
    result(calls[0], `output ${from + i}`),
    said("It is "),
    said(`number ${from + i}.`),
    paid,
    ended,
  ]).flat();
}

/** Any event in any order: more than an engine would ever write. */
const anyBody = fc.oneof(
  { weight: 24, arbitrary: fc.constantFrom(ended, ended, interrupted) },
  { weight: 16, arbitrary: fc.tuple(fc.string(), fc.nat(2)).map(([words, queued]) => started(words, queued)) },
  { weight: 24, arbitrary: fc.string().map(said) },
  { weight: 16, arbitrary: fc.constantFrom(...calls).map(asked) },
  {
    weight: 16,
    arbitrary: fc
      .tuple(fc.constantFrom(...calls), fc.constantFrom("short", "a long output ".repeat(700)))
      .map(([call, output]) => result(call, output)),
  },
  {
    weight: 16,
    arbitrary: fc.constantFrom<EventBody>(
      paid,
      { ...paid, payload: { ...paid.payload, abandoned: true } } as EventBody,
      { ...paid, payload: { ...paid.payload, answer: { calls: 2 } } } as EventBody,
      { ...paid, payload: { ...paid.payload, answer: { blocks: [{ type: "text", deltas: 1 }] } } } as EventBody,
    ),
  },
  {
    weight: 8,
    arbitrary: fc.constantFrom<EventBody>(
      { kind: "ThinkingDelta", payload: { text: "Hm.", provider: "p", opaque: { signature: "s" } } },
      { kind: "InputSteered", payload: { turn, input: [text("wait")], from: originator } },
      { kind: "InputDropped", payload: { inputs: [[text("wait")]], by: "cli" } },
      { kind: "AnswerRetracted", payload: { turn, reason: "NetworkFailed" } },
      { kind: "SessionEnded", payload: { reason: "idle" } },
    ),
  },
  {
    weight: 12,
    arbitrary: fc.constantFrom<EventBody>(
      { kind: "InputQueued", payload: { input: [text("wait")], delivery: "steer", from: originator } },
      { kind: "InputQueued", payload: { input: [text("then")], delivery: "queue", from: originator } },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(60).map((kept): EventBody => {
      const payload = { turn, reason: "size", summary: "In short.", ...(kept > 0 && { kept_from: kept }) };
      return { kind: "CompactionTriggered", payload };
    }),
  },
);

const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(anyBody, { maxLength: 24, size: "max" }).map((bodies) => ({ do: "append" as const, bodies })),
  },
  { weight: 3, arbitrary: fc.constant({ do: "condense" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "read" as const }) },
  { weight: 1, arbitrary: fc.nat(40).map((event) => ({ do: "expire" as const, event })) },
);

async function tamper(sql: string, values: readonly Bindable[] = []): Promise<void> {
  const database = await Database.open({ path: join(folder, "sessions.db"), key: databaseKey(KEY) });
  database.run(sql, values);
  database.close();
}

describe.each(["sqlite", "files"] as const)("a log in the %s store, condensed,", (kind) => {
  beforeEach(async () => {
    await store.close();
    store = await open(kind);
  });

  verifies(
    ["S6"],
    "gives the conversation that all its events give, whatever they are",
    async () => {
      let stretches = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 12, size: "max" }), async (steps) => {
          const session = await newSession();
          for (const step of steps) {
            if (step.do === "append") await append(session, step.bodies);
            if (step.do === "condense") await condenseSession(store, session, { stretchEvents: 4 });
            if (step.do === "expire") await store.expire(session, Math.max(1, step.event));
            if (step.do === "read") await readConversation(store, await recordOf(session), { stretchEvents: 4 });
          }
          stretches += (await store.condensed?.read(session))?.length ?? 0;
          const record = await recordOf(session);
          const { rebuilt } = await readConversation(store, record, { stretchEvents: 1000 });
          const { from, ...start } = await startOf(store, record);
          const whole = await rebuildConversation(store.events(session, { after: from }), start);
          expect(rebuilt).toEqual(whole);
          expect(rebuilt.messages.map(originOf)).toEqual(whole.messages.map(originOf));
          expect(await store.verify(session)).toMatchObject({ ok: true });
        }),
        { seed: 9, numRuns: kind === "sqlite" ? times(15, 300) : times(4, 60) },
      );
      expect(stretches).toBeGreaterThan(5);
    },
    120_000,
  );

  verifies(["S6"], "of any length takes a resume no more events than a stretch has", async () => {
    const session = await newSession();
    const count = 3 * STRETCH_EVENTS + 700;
    await append(session, turns(0, count / 100, 100));
    const whole = await rebuildConversation(store.events(session));
    read = 0;
    const first = await readStoredSession(store, session);
    // Two more: for the time of the last turn, and for the mode at its end.
    expect(read).toBe(count + 2);
    expect(first.uncondensed).toBe(700);
    read = 0;
    const second = await readStoredSession(store, session);
    expect(read).toBe(702);
    for (const { rebuilt, turns } of [first, second]) {
      expect(rebuilt).toEqual(whole);
      expect(turns).toBe(count / 100);
    }
  });

  verifies(["S6"], "has no end where input waits or a turn is open", async () => {
    const session = await newSession();
    const input = [text("and then")];
    const queued: EventBody = { kind: "InputQueued", payload: { input, delivery: "queue", from: originator } };
    await append(session, [...turns(0, 2), started("go"), queued, interrupted]);
    expect(await condenseSession(store, session, { stretchEvents: 5 })).toBe(3);
    expect((await readStoredSession(store, session)).rebuilt).toMatchObject({ waiting: [{ input }], lastEvent: 23 });
    await append(session, [started("go on", 1), said("Well")]);
    expect(await condenseSession(store, session, { stretchEvents: 1 })).toBe(5);
    await append(session, [ended]);
    expect(await condenseSession(store, session, { stretchEvents: 1 })).toBe(0);
  });

  verifies(["S6", "X7", "L10"], "knows what waits from before a summary, over several turns", async () => {
    const session = await newSession();
    const queued = (words: string): EventBody => ({
      kind: "InputQueued",
      payload: { input: [text(words)], delivery: "queue", from: originator },
    });
    const long = Array.from({ length: 700 }, () => said("on "));
    await append(session, [...turns(0, 3), started("go"), queued("a"), queued("b"), queued("c"), ended]);
    await append(session, [started("a", 1), ...long, ended, started("b", 1), ...long, said("x")]);
    const summary: EventBody = { kind: "CompactionTriggered", payload: { turn, reason: "size", summary: "In short." } };
    await append(session, [summary, said("y")]);
    const { rebuilt } = await readStoredSession(store, session);
    expect(rebuilt.waiting.map(({ input }) => input)).toEqual([[text("c")]]);
  });

  verifies(["S6"], "gives a branch none of the inputs that waited in the original where it was cut", async () => {
    const input = [text("and then")];
    const queued: EventBody = { kind: "InputQueued", payload: { input, delivery: "queue", from: originator } };
    const events = [...turns(0, 2), started("go"), queued, ended];
    const session = await newSession({ branch_of: { session: ids.next("sess"), event: events.length } });
    await append(session, events);
    expect((await readStoredSession(store, session)).rebuilt.waiting).toEqual([]);
    await append(session, [started("anew"), queued, interrupted]);
    expect((await readStoredSession(store, session)).rebuilt.waiting).toEqual([queued.payload]);
  });

  verifies(["S6", "X7"], "keeps what a summary leaves as it was", async () => {
    const session = await newSession();
    await append(session, turns(0, 12));
    await condenseSession(store, session, { stretchEvents: 50 });
    const kept = { reason: "size", summary: "The beginning.", kept_from: 61 };
    await append(session, [{ kind: "CompactionTriggered", payload: kept }, ...turns(12, 12)]);
    expect(await condenseSession(store, session, { stretchEvents: 50 })).toBe(20);
    // The first has fifty events before the summary, and ends behind it.
    expect(await store.condensed?.read(session)).toMatchObject([
      { after: 60, to: 121, replacesEarlier: true },
      { after: 121, to: 171 },
      { after: 171, to: 221 },
    ]);
    const { rebuilt } = await readConversation(store, await recordOf(session), { stretchEvents: 50 });
    expect(rebuilt).toEqual({ ...(await rebuildConversation(store.events(session))), turns: 18 });
    expect(rebuilt.messages[1]).toMatchObject({ content: [text("prompt 6")] });
    expect(rebuilt.messages.slice(1, 4).map(originOf)).toEqual([61, 62, undefined]);
  });

  verifies(["S6"], "starts again with a summary", async () => {
    const session = await newSession();
    await append(session, turns(0, 12));
    await condenseSession(store, session, { stretchEvents: 50 });
    expect(await store.condensed?.end(session)).toBe(100);
    await append(session, [summed("All of it."), ...turns(12, 12)]);
    expect(await store.condensed?.end(session)).toBeUndefined();
    await condenseSession(store, session, { stretchEvents: 50 });
    const stretches = await store.condensed?.read(session);
    expect(stretches).toMatchObject([
      { after: 120, to: 171, replacesEarlier: true },
      { after: 171, to: 221 },
    ]);
    expect(stretches?.[0]?.messages[0]).toEqual({ role: "user", content: [text("All of it.")] });
    const { rebuilt, turns: known } = await readStoredSession(store, session);
    expect(rebuilt.messages).toEqual((await rebuildConversation(store.events(session))).messages);
    expect(known).toBeUndefined();
  });

  verifies(["S5"], "goes when content expires", async () => {
    const session = await newSession();
    await append(session, turns(0, 20));
    await condenseSession(store, session, { stretchEvents: 50 });
    expect(await store.condensed?.end(session)).toBe(200);
    await store.expire(session, 45);
    expect(await store.condensed?.end(session)).toBeUndefined();
    const { rebuilt } = await readStoredSession(store, session);
    expect(JSON.stringify(rebuilt.messages)).not.toContain("prompt 3");
  });
});

describe("a condensed log in files", () => {
  verifies(["S7", "S11"], "that was changed is not believed: the events are read, and it is made again", async () => {
    await store.close();
    store = await open("files");
    const session = await newSession();
    await append(session, turns(0, 20));
    const path = join(folder, session, "condensed.jsonl");
    const whole = await rebuildConversation(store.events(session));
    const changes: readonly ((lines: string[]) => string[])[] = [
      (lines) => lines.map((line) => line.replace("prompt 3", "prompt 9")),
      (lines) => lines.slice(1),
      ([first = "", , ...rest]) => [first, ...rest],
      ([first = "", second = "", ...rest]) => [second, first, ...rest],
      (lines) => lines.map((line) => line.replace('"after":50,', '"after":40,')),
      () => ["not a line of ours"],
    ];
    for (const change of changes) {
      await condenseSession(store, session, { stretchEvents: 50 });
      const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
      expect(lines).toHaveLength(4);
      await writeFile(path, `${change(lines).join("\n")}\n`);
      read = 0;
      const { rebuilt } = await readConversation(store, await recordOf(session), { stretchEvents: 50 });
      expect(rebuilt, String(change)).toEqual(whole);
      expect(read, String(change)).toBe(200);
    }
    const log = join(folder, session, "events.jsonl");
    await writeFile(log, (await readFile(log, "utf8")).replace("prompt 3", "prompt 9"));
    expect((await readConversation(store, await recordOf(session))).rebuilt).toEqual(whole);
    expect(await store.verify(session)).toMatchObject({ ok: false, event_id: 31 });
  });
});

describe("a condensed log in the database", () => {
  verifies(["S5"], "keeps no expired content, and restores none that is stored elsewhere", async () => {
    const session = await newSession();
    await append(session, turns(0, 20));
    await condenseSession(store, session, { stretchEvents: 50 });
    await tamper("CREATE TABLE kept AS SELECT * FROM stretches");
    await store.expire(session, 45);
    expect(await store.condensed?.end(session)).toBeUndefined();
    await tamper("INSERT INTO stretches SELECT * FROM kept");
    expect(await store.condensed?.read(session)).toEqual([]);
    expect(await store.condensed?.end(session)).toBeUndefined();
    const { rebuilt } = await readStoredSession(store, session);
    expect(JSON.stringify(rebuilt.messages)).not.toContain("prompt 3");
  });

  verifies(["S6"], "goes with its session", async () => {
    const session = await newSession();
    await append(session, turns(0, 20));
    await condenseSession(store, session, { stretchEvents: 50 });
    await store.remove(session);
    const database = await Database.open({ path: join(folder, "sessions.db"), key: databaseKey(KEY) });
    expect(database.select({ place: "integer" }, "FROM stretches")).toEqual([]);
    database.close();
  });

  verifies(["S11"], "that was changed is not believed: the events are read, and it is made again", async () => {
    const session = await newSession();
    await append(session, turns(0, 20));
    const other = await newSession();
    await append(other, turns(20, 20));
    const whole = await rebuildConversation(store.events(session));
    const place = 2 ** 30;
    const changes: readonly (readonly [string, ...Bindable[]])[] = [
      [
        "UPDATE stretches SET body = (SELECT body FROM stretches WHERE place = ?) WHERE place = ?",
        place + 150,
        place + 100,
      ],
      [
        "UPDATE stretches SET body = (SELECT body FROM stretches WHERE place = ?) WHERE place = ?",
        2 * place + 50,
        place + 50,
      ],
      ["UPDATE stretches SET tag = zeroblob(16) WHERE place = ?", place + 50],
      ["UPDATE stretches SET holes = ? WHERE place = ?", Buffer.from("[ ]"), place + 50],
      ["UPDATE stretches SET after = 10 WHERE place = ?", place + 50],
      ["UPDATE stretches SET place = place + 10 WHERE place = ?", place + 200],
      ["DELETE FROM stretches WHERE place = ?", place + 50],
      ["DELETE FROM stretches WHERE place = ?", place + 100],
    ];
    for (const [sql, ...values] of changes) {
      for (const each of [session, other]) await condenseSession(store, each, { stretchEvents: 50 });
      expect(await store.condensed?.end(session)).toBe(200);
      await tamper(sql, values);
      read = 0;
      const { rebuilt } = await readConversation(store, await recordOf(session), { stretchEvents: 50 });
      expect(rebuilt, sql).toEqual(whole);
      expect(read, sql).toBe(200);
      expect(await store.condensed?.read(session)).toHaveLength(4);
    }
    expect(await store.verify(session)).toEqual({ ok: true, events: 200 });
  });

  verifies(["S11"], "does not hide a changed event: verify finds it, and a resume uses the original", async () => {
    const session = await newSession();
    await append(session, turns(0, 20));
    const whole = await rebuildConversation(store.events(session));
    await condenseSession(store, session, { stretchEvents: 50 });
    await tamper("UPDATE events SET body = ? WHERE place = ?", [Buffer.from("Forged"), 2 ** 30 + 12]);
    expect((await readStoredSession(store, session)).rebuilt).toEqual(whole);
    expect(await store.verify(session)).toMatchObject({ ok: false, problem: "changed", event_id: 12 });
    // Where a stretch meets the log, the links must fit.
    await tamper("UPDATE events SET link = zeroblob(10) WHERE place = ?", [2 ** 30 + 100]);
    await expect(readStoredSession(store, session)).rejects.toMatchObject({ code: "damaged" });
  });

  verifies(["S1"], "repeats no large content, and compresses the rest", async () => {
    const session = await newSession();
    const size = async () => (await stat(join(folder, "sessions.db"))).size;
    const image = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, i) => (i * i * 31) >> 7)).toString("base64");
    await append(session, [...turns(0, 4), started("look"), asked(calls[0]), paid, result(calls[0], image), ended]);
    const whole = await rebuildConversation(store.events(session));
    await store.close();
    const before = await size();
    store = await open();
    await condenseSession(store, session, { stretchEvents: 45 });
    expect((await readStoredSession(store, session)).rebuilt).toEqual(whole);
    await store.close();
    expect((await size()) - before).toBeLessThan(20_000);
    store = await open();
  });

  if (isThorough) {
    verifies(
      ["S6"],
      "of 100,000 events is resumed in a quarter of the time that reading them takes",
      async () => {
        const session = await newSession();
        for (let i = 0; i < 10; i++) await append(session, turns(i * 1000, 1000));
        await condenseSession(store, session);
        const cpu = async (work: () => Promise<unknown>) => {
          const from = process.cpuUsage();
          await work();
          const { user, system } = process.cpuUsage(from);
          return user + system;
        };
        const whole = await cpu(() => rebuildConversation(store.events(session)));
        expect(await cpu(() => readStoredSession(store, session))).toBeLessThan(whole / 4);
      },
      120_000,
    );
  }
});
