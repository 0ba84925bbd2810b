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
import { rebuildConversation } from "./conversation.js";
import { openFilesStore } from "./files/files-store.js";
import { readStoredSession } from "./resume.js";
import { readConversation, startOf, takeSnapshot } from "./snapshot.js";
import { databaseKey } from "./sqlite/keys.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import { type NewSession, type SessionStore, SNAPSHOT_EVENTS } from "./store.js";

const KEY = new Uint8Array(32).fill(7);
const ids = createIdSource({ wall: Date.now, random: (bytes) => crypto.getRandomValues(bytes) });
const originator = ids.next("cli");
const turn = ids.next("turn");
const calls = [ids.next("call"), ids.next("call"), ids.next("call")] as const;
let folder: string;
let store: SessionStore;
let read: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-snapshot-"));
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
  { weight: 3, arbitrary: fc.constant({ do: "snapshot" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "read" as const }) },
  { weight: 1, arbitrary: fc.nat(40).map((event) => ({ do: "expire" as const, event })) },
);

async function tamper(sql: string, values: readonly Bindable[] = []): Promise<void> {
  const database = await Database.open({ path: join(folder, "sessions.db"), key: databaseKey(KEY) });
  database.run(sql, values);
  database.close();
}

describe.each(["sqlite", "files"] as const)("a snapshot in the %s store", (kind) => {
  beforeEach(async () => {
    await store.close();
    store = await open(kind);
  });

  verifies(
    ["S6"],
    "gives the conversation that all its events give, whatever they are",
    async () => {
      let snapshots = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 12, size: "max" }), async (steps) => {
          const session = await newSession();
          for (const step of steps) {
            if (step.do === "append") await append(session, step.bodies);
            if (step.do === "snapshot") await takeSnapshot(store, session, { every: 4 });
            if (step.do === "expire") await store.expire(session, Math.max(1, step.event));
            if (step.do === "read") await readConversation(store, await recordOf(session), { every: 4 });
          }
          if ((await store.snapshot?.(session)) !== undefined) snapshots++;
          const record = await recordOf(session);
          const { rebuilt } = await readConversation(store, record, { every: 1000 });
          const { from, ...start } = await startOf(store, record);
          const whole = await rebuildConversation(store.events(session, { after: from }), start);
          expect(rebuilt).toEqual(whole);
          expect(rebuilt.messages.map(originOf)).toEqual(whole.messages.map(originOf));
          expect(await store.verify(session)).toMatchObject({ ok: true });
        }),
        { seed: 9, numRuns: kind === "sqlite" ? times(15, 300) : times(4, 60) },
      );
      expect(snapshots).toBeGreaterThan(1);
    },
    120_000,
  );

  verifies(["S6"], "of a log of any length leaves a resume few events to read", async () => {
    const session = await newSession();
    const count = 3 * SNAPSHOT_EVENTS + 700;
    await append(session, turns(0, count / 100, 100));
    const whole = await rebuildConversation(store.events(session));
    read = 0;
    const first = await readStoredSession(store, session);
    // Two more: for the time of the last turn, and for the mode at its end.
    expect(read).toBe(count + 2);
    expect(first.behindSnapshot).toBe(700);
    read = 0;
    const second = await readStoredSession(store, session);
    expect(read).toBe(702);
    for (const { rebuilt, turns } of [first, second]) {
      expect(rebuilt).toEqual(whole);
      expect(turns).toBe(count / 100);
    }
  });

  verifies(["S6"], "does not end where input waits or a turn is open", async () => {
    const session = await newSession();
    const input = [text("and then")];
    const queued: EventBody = { kind: "InputQueued", payload: { input, delivery: "queue", from: originator } };
    await append(session, [...turns(0, 2), started("go"), queued, interrupted]);
    expect(await takeSnapshot(store, session, { every: 5 })).toBe(3);
    expect((await readStoredSession(store, session)).rebuilt).toMatchObject({ waiting: [{ input }], lastEvent: 23 });
    await append(session, [started("go on", 1), said("Well")]);
    expect(await takeSnapshot(store, session, { every: 1 })).toBe(5);
    await append(session, [ended]);
    expect(await takeSnapshot(store, session, { every: 1 })).toBe(0);
  });

  verifies(["S6"], "of a long log comes less often, because it holds all of the conversation", async () => {
    const session = await newSession();
    await append(session, turns(0, 200));
    let behind = await takeSnapshot(store, session, { every: 20 });
    const kept = (await store.snapshot?.(session))?.to ?? 0;
    expect(behind).toBe(2000 - kept);
    for (let turn = 200; behind < 30; turn++) {
      await append(session, turns(turn, 1));
      behind = await takeSnapshot(store, session, { every: 20 });
    }
    expect((await store.snapshot?.(session))?.to).toBe(kept);
    await append(session, turns(300, 20));
    expect(await takeSnapshot(store, session, { every: 20 })).toBeLessThan(behind + 200);
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
    await takeSnapshot(store, session, { every: 50 });
    const kept = { reason: "size", summary: "The beginning.", kept_from: 61 };
    await append(session, [{ kind: "CompactionTriggered", payload: kept }, ...turns(12, 12)]);
    expect(await takeSnapshot(store, session, { every: 50 })).toBeLessThan(50);
    const found = await store.snapshot?.(session);
    // It begins with fifty events from before the summary.
    expect(found?.from).toBe(60);
    expect(found?.messages[0]).toEqual({ role: "user", content: [text("The beginning.")] });
    const { rebuilt } = await readConversation(store, await recordOf(session), { every: 50 });
    expect(rebuilt).toEqual({ ...(await rebuildConversation(store.events(session))), turns: 18 });
    expect(rebuilt.messages[1]).toMatchObject({ content: [text("prompt 6")] });
    expect(rebuilt.messages.slice(1, 4).map(originOf)).toEqual([61, 62, undefined]);
  });

  verifies(["S6", "X7"], "is not needed for a summary that keeps messages from the middle of a turn", async () => {
    const [turnStart, answer, answerAfterCall, next] = [11, 12, 17, 21];
    const read = async (kept_from: number, expired = 0) => {
      const session = await newSession();
      const kept = { reason: "size", summary: "The beginning.", kept_from };
      await append(session, [...turns(0, 3), { kind: "CompactionTriggered", payload: kept }, ...turns(3, 1)]);
      if (expired > 0) await store.expire(session, expired);
      const { rebuilt } = await readConversation(store, await recordOf(session));
      return { rebuilt, whole: await rebuildConversation(store.events(session)) };
    };
    for (const from of [turnStart, answer, answerAfterCall, next]) {
      const { rebuilt, whole } = await read(from);
      expect(rebuilt.messages.slice(1).map(originOf)[0], `from ${from}`).toBe(from);
      expect(rebuilt.messages, `from ${from}`).toEqual(whole.messages);
    }
    // No turn is open behind a summary that was made between two, whatever was added since.
    const session = await newSession();
    const added: EventBody = { kind: "ContextAdded", payload: { turn, source: "hook", text: "late" } };
    await append(session, [...turns(0, 3), summed("All of it."), added]);
    const { rebuilt: between } = await readConversation(store, await recordOf(session));
    expect(between.messages).toEqual((await rebuildConversation(store.events(session))).messages);
    // Without its beginning, the rest of a turn means nothing.
    for (const expired of [turnStart, answer, answerAfterCall]) {
      const { rebuilt } = await read(turnStart, expired);
      expect(rebuilt.messages.slice(1).map(originOf)[0], `expired to ${expired}`).toBe(next);
    }
  });

  verifies(["S6"], "is not used behind a newer summary", async () => {
    const session = await newSession();
    await append(session, turns(0, 12));
    await takeSnapshot(store, session, { every: 50 });
    await append(session, [summed("All of it."), ...turns(12, 3)]);
    read = 0;
    const { rebuilt, turns: known } = await readStoredSession(store, session);
    // The summary is read to see what it keeps, and again with the rest.
    expect(read).toBeLessThan(70);
    expect(rebuilt.messages).toEqual((await rebuildConversation(store.events(session))).messages);
    expect(known).toBeUndefined();
  });

  verifies(["S5"], "goes when content expires, also one that comes back from elsewhere", async () => {
    const session = await newSession();
    await append(session, turns(0, 20));
    await takeSnapshot(store, session, { every: 50 });
    const before = await store.snapshot?.(session);
    expect(before?.to).toBeGreaterThan(100);
    await store.expire(session, 45);
    expect(await store.snapshot?.(session)).toBeUndefined();
    await expect(store.keepSnapshot?.(session, before as never)).rejects.toMatchObject({ code: "conflict" });
    const { rebuilt } = await readStoredSession(store, session);
    expect(JSON.stringify(rebuilt.messages)).not.toContain("prompt 3");
  });

  verifies(["S6", "S7"], "is not where a mode comes from, and neither is a log that people may edit", async () => {
    const session = await newSession();
    await append(session, [
      { ...started("go"), payload: { turn, input: [text("go")], mode: "allow" } } as EventBody,
      { ...ended, payload: { ...ended.payload, mode: "allow" } } as EventBody,
    ]);
    expect((await readStoredSession(store, session)).mode).toBe(kind === "sqlite" ? "allow" : undefined);
  });

  verifies(["S6"], "is refused beyond the end of the log", async () => {
    const session = await newSession();
    await append(session, turns(0, 2));
    const beyond = { from: 0, to: 21, turns: 2, messages: [], origins: [] };
    await expect(store.keepSnapshot?.(session, beyond)).rejects.toMatchObject({ code: "conflict" });
    expect(await store.snapshot?.(session)).toBeUndefined();
  });
});

describe("a snapshot in files", () => {
  verifies(["S7", "S11"], "that was changed is not believed: the events are read, and it is made again", async () => {
    await store.close();
    store = await open("files");
    const session = await newSession();
    await append(session, turns(0, 20));
    const path = join(folder, session, "snapshot.json");
    const whole = await rebuildConversation(store.events(session));
    const changes: readonly ((text: string) => string)[] = [
      (text) => text.replace("prompt 3", "prompt 9"),
      (text) => text.replace('{"event":200', '{"event":190'),
      (text) => text.split("\n").slice(1).join("\n"),
      () => "not a snapshot of ours",
    ];
    for (const change of changes) {
      await takeSnapshot(store, session, { every: 50 });
      const text = await readFile(path, "utf8");
      expect(change(text)).not.toBe(text);
      await writeFile(path, change(text));
      read = 0;
      const { rebuilt } = await readConversation(store, await recordOf(session), { every: 50 });
      expect(rebuilt, String(change)).toEqual(whole);
      expect(read, String(change)).toBe(200);
    }
  });

  verifies(["S5"], "takes the place of the condensed turns of earlier versions, and so does an expiry", async () => {
    await store.close();
    store = await open("files");
    const session = await newSession();
    await append(session, turns(0, 20));
    const path = join(folder, session, "condensed.jsonl");
    await writeFile(path, "prompt 3");
    await store.expire(session, 45);
    await expect(readFile(path)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("a snapshot in the database", () => {
  verifies(["S5"], "keeps no expired content, and restores none that is stored elsewhere", async () => {
    const session = await newSession();
    await append(session, turns(0, 20));
    await takeSnapshot(store, session, { every: 50 });
    await tamper("CREATE TABLE kept AS SELECT * FROM snapshots");
    await store.expire(session, 45);
    await tamper("INSERT INTO snapshots SELECT * FROM kept");
    expect(await store.snapshot?.(session)).toBeUndefined();
    const { rebuilt } = await readStoredSession(store, session);
    expect(JSON.stringify(rebuilt.messages)).not.toContain("prompt 3");
  });

  verifies(["S6"], "goes with its session", async () => {
    const session = await newSession();
    await append(session, turns(0, 20));
    await takeSnapshot(store, session, { every: 50 });
    await store.remove(session);
    const database = await Database.open({ path: join(folder, "sessions.db"), key: databaseKey(KEY) });
    expect(database.select({ session: "integer" }, "FROM snapshots")).toEqual([]);
    database.close();
  });

  verifies(["S11"], "that was changed is not believed: the events are read, and it is made again", async () => {
    const session = await newSession();
    await append(session, turns(0, 20));
    const other = await newSession();
    await append(other, turns(20, 20));
    const whole = await rebuildConversation(store.events(session));
    const changes: readonly (readonly [string, ...Bindable[]])[] = [
      ["UPDATE snapshots SET body = (SELECT body FROM snapshots WHERE session = 2) WHERE session = 1"],
      ["UPDATE snapshots SET body = x'00' WHERE session = 1"],
      ["UPDATE snapshots SET tag = zeroblob(16) WHERE session = 1"],
      ["UPDATE snapshots SET event = 10 WHERE session = 1"],
      ["DELETE FROM snapshots WHERE session = 1"],
    ];
    for (const [sql, ...values] of changes) {
      for (const each of [session, other]) await takeSnapshot(store, each, { every: 50 });
      expect(await store.snapshot?.(session)).toBeDefined();
      await tamper(sql, values);
      read = 0;
      const { rebuilt } = await readConversation(store, await recordOf(session), { every: 50 });
      expect(rebuilt, sql).toEqual(whole);
      expect(read, sql).toBe(200);
      expect(await store.snapshot?.(session), sql).toBeDefined();
    }
    expect(await store.verify(session)).toEqual({ ok: true, events: 200 });
  });

  verifies(["S11"], "does not hide a changed event: verify finds it, and a resume uses the original", async () => {
    const session = await newSession();
    await append(session, turns(0, 20));
    const whole = await rebuildConversation(store.events(session));
    await takeSnapshot(store, session, { every: 50 });
    await tamper("UPDATE events SET body = ? WHERE place = ?", [Buffer.from("Forged"), 2 ** 30 + 12]);
    expect((await readStoredSession(store, session)).rebuilt).toEqual(whole);
    expect(await store.verify(session)).toMatchObject({ ok: false, problem: "changed", event_id: 12 });
    // Where the snapshot meets the log, the links must fit.
    const at = (await store.snapshot?.(session))?.to ?? 0;
    await tamper("UPDATE events SET link = zeroblob(10) WHERE place = ?", [2 ** 30 + at]);
    await expect(readStoredSession(store, session)).rejects.toMatchObject({ code: "damaged" });
  });

  verifies(["S1"], "is compressed", async () => {
    const session = await newSession();
    const size = async () => (await stat(join(folder, "sessions.db"))).size;
    await append(session, [...turns(0, 4), started("look"), asked(calls[0]), paid]);
    await append(session, [result(calls[0], "a line of output\n".repeat(20_000)), ended]);
    const whole = await rebuildConversation(store.events(session));
    await store.close();
    const before = await size();
    store = await open();
    await takeSnapshot(store, session, { every: 45 });
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
        await takeSnapshot(store, session);
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
