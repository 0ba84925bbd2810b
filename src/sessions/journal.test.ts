import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { systemClock } from "../base/clock.js";
import { createIdSource } from "../base/ulid.js";
import { text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventBody } from "../protocol/events.js";
import { NO_USAGE } from "../protocol/usage.js";
import { Journal } from "./journal.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import { type SessionStore, SNAPSHOT_EVENTS, StoreError } from "./store.js";

const ids = createIdSource({ wall: Date.now, random: (bytes) => crypto.getRandomValues(bytes) });
const redactor = {
  redact: (words: string) => words,
  stream: () => ({ push: (text: string) => [{ text, length: text.length, isMarker: false }], end: () => [] }),
};

let folder: string;
let store: SessionStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "journal-"));
  store = await openStore();
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

function openStore(options: { readonly groupDelayMs?: number } = {}): Promise<SessionStore> {
  return openSqliteStore({ path: join(folder, "sessions.db"), key: new Uint8Array(32).fill(7), ...options });
}

/** A run's bus, as far as a journal sees it. */
function recording(through: SessionStore | "none" = store) {
  const session = ids.next("sess");
  const originator = ids.next("cli");
  const failures: StoreError[] = [];
  const published: Envelope[] = [];
  const create = {
    id: session,
    log: ids.next("log"),
    cwd: "/w",
    provider: "p",
    model: "m",
    created_at: "2026-01-31T12:00:00.000Z",
  };
  const journal = new Journal({
    session,
    create,
    model: "p:m",
    clock: systemClock,
    openStore: async () => {
      if (through === "none") return undefined;
      await through.lease(session);
      return through;
    },
    loadRedactor: async () => redactor,
    onFailure: (error) => failures.push(error),
  });
  const publish = (body: EventBody) => {
    const event = { id: published.length + 1, session, originator, ts: new Date().toISOString(), ...body } as Envelope;
    published.push(event);
    journal.record(event);
  };
  return { session, journal, publish, published, failures };
}

const turn = ids.next("turn");
const started = (words: string): EventBody => ({ kind: "TurnStarted", payload: { turn, input: [text(words)] } });
const ended: EventBody = {
  kind: "TurnEnded",
  payload: { turn, outcome: "answered", text: "", iterations: 1, usage: NO_USAGE },
};
const delta = (words: string): EventBody => ({ kind: "TextDelta", payload: { text: words } });

async function stored(session: Envelope["session"]): Promise<Envelope[]> {
  const events: Envelope[] = [];
  for await (const event of store.events(session)) events.push(event);
  return events;
}

/** One that has no lease: it stands for a process that took the session over. */
async function byAnotherProcess(session: Envelope["session"], events: readonly Envelope[]): Promise<void> {
  const other = await openStore();
  await other.append(session, events, "sync");
  await other.close();
}

describe("the journal", () => {
  verifies(["S1"], "stores a session from its first turn on, whole and in order", async () => {
    const { session, journal, publish, published } = recording();
    publish({ kind: "ToolCallStarted", payload: { call: ids.next("call"), tool: "bash", args: { command: "ls" } } });
    await journal.flush();
    expect(await store.get(session)).toBeUndefined();
    for (const body of [started("Fix the build\nplease"), delta("a"), delta("b"), ended]) publish(body);
    await journal.flush();
    expect(await stored(session)).toEqual(published);
    expect(await store.get(session)).toMatchObject({ title: "Fix the build", last_event: 5 });
  });

  verifies(["S1"], "does not wait for company when everything is to be saved now", async () => {
    await store.close();
    store = await openStore({ groupDelayMs: 1_000_000 });
    const { session, journal, publish, published } = recording();
    publish(started("go"));
    await journal.flush();
    publish(delta("a"));
    publish({ kind: "Notice", payload: { level: "warning", message: "b" } });
    const saved = journal.saved();
    await journal.flush();
    await saved;
    expect(await stored(session)).toEqual(published);
  });

  verifies(["S1"], "remembers the model that answered last", async () => {
    const { session, journal, publish } = recording();
    publish(started("go"));
    publish({ kind: "AnswerEnded", payload: { turn, provider: "q", model: "n" } });
    await journal.flush();
    expect(await store.get(session)).toMatchObject({ provider: "q", model: "n" });
  });

  verifies(
    ["S3"],
    "has the intent of a call and all before it in the store when the call begins, and its end with the result",
    async () => {
      const { session, journal, publish, published } = recording();
      const call = { call: ids.next("call"), tool: "bash", args: { command: "make" } };
      publish(started("go"));
      publish(delta("I will."));
      publish({ kind: "ToolCallStarted", payload: call });
      await journal.intend(call);
      expect(await stored(session)).toEqual(published);
      expect(await store.orphans(session)).toMatchObject([{ call: call.call, tool: "bash", mutating: true }]);
      publish({
        kind: "ToolResult",
        payload: { call: call.call, tool: "bash", status: "ok", content: [text("made")] },
      });
      expect(await store.orphans(session)).toEqual([]);
      await journal.flush();
    },
  );

  verifies(["S1", "L10"], "has on the disk at once what a client relies on, with all before it", async () => {
    const appended: [kinds: string, durability: string][] = [];
    const watched = new Proxy(store, {
      get(target, name) {
        const value = target[name as keyof SessionStore];
        if (name !== "append") return typeof value === "function" ? value.bind(target) : value;
        return (...args: Parameters<SessionStore["append"]>) => {
          appended.push([args[1].map(({ kind }) => kind).join(), args[2]]);
          return target.append(...args);
        };
      },
    });
    const { journal, publish } = recording(watched);
    await journal.ready();
    publish(started("go"));
    publish(delta("a"));
    publish({
      kind: "InputQueued",
      payload: { input: [text("b")], delivery: "queue", from: ids.next("cli"), identity: "human" },
    });
    publish({
      kind: "CompactionTriggered",
      payload: { turn, reason: "asked", summary: "s", tokens: { before: 2, after: 1 } },
    });
    publish(delta("c"));
    publish(ended);
    publish(started("again"));
    expect(appended).toEqual([
      ["TextDelta,InputQueued", "sync"],
      ["CompactionTriggered", "sync"],
      ["TextDelta,TurnEnded", "sync"],
      ["TurnStarted", "sync"],
    ]);
    publish(delta("d"));
    expect(appended).toHaveLength(4);
    await journal.close();
  });

  verifies(["S3"], "lets no call begin twice, nor one that cannot be written down", async () => {
    const { journal, publish } = recording();
    const call = { call: ids.next("call"), tool: "bash", args: {} };
    publish(started("go"));
    await journal.intend(call);
    await expect(journal.intend(call)).rejects.toMatchObject({ code: "conflict" });
    const full = recording(failing(store, () => true));
    full.publish(started("go"));
    await expect(full.journal.intend({ ...call, call: ids.next("call") })).rejects.toMatchObject({ code: "full" });
    expect(full.failures).toHaveLength(1);
  });

  verifies(["S1"], "continues without a store if none is configured", async () => {
    const { session, journal, publish, failures } = recording("none");
    publish(started("go"));
    await journal.intend({ call: ids.next("call"), tool: "bash", args: {} });
    await journal.flush();
    expect(failures).toEqual([]);
    expect(await store.get(session)).toBeUndefined();
  });

  verifies(["S1"], "reports when writing fails, and writes the missing events when it works again", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 12 }), async (faults) => {
        let left = [...faults];
        const { session, journal, publish, published, failures } = recording(
          failing(store, () => left.shift() === true),
        );
        for (let n = 0; n < 4; n++) {
          for (const body of [started(`turn ${n}`), delta("a"), ended]) publish(body);
          await journal.flush().catch(() => {});
        }
        left = [];
        publish(started("the last"));
        await journal.flush();
        expect(await stored(session)).toEqual(published);
        // The first write of all is the session's row.
        if (faults[0]) expect(failures[0]).toMatchObject({ code: "full" });
        if (!faults.includes(true)) expect(failures).toEqual([]);
      }),
      { numRuns: 60, seed: 9 },
    );
  });

  verifies(["S3", "S13"], "writes nothing more once another process has continued the session", async () => {
    const { session, journal, publish, published, failures } = recording();
    for (const body of [started("one"), ended]) publish(body);
    await journal.flush();
    const other = { ...published[0], id: 3 } as Envelope;
    await byAnotherProcess(session, [other, { ...published[1], id: 4 } as Envelope]);
    const call = { call: ids.next("call"), tool: "bash", args: {} };
    await expect(journal.intend(call)).rejects.toMatchObject({ code: "conflict" });
    expect(await store.orphans(session)).toEqual([]);
    for (let turns = 2; turns < 5; turns++) {
      for (const body of [started("more"), ended]) publish(body);
      await expect(journal.flush()).rejects.toMatchObject({ code: "conflict" });
      // Each turn hears of it, so that none runs unsaved.
      expect(failures).toHaveLength(turns);
    }
    expect((await stored(session)).map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect((await stored(session))[2]).toEqual(other);
    expect(await store.verify(session)).toMatchObject({ ok: true });
  });

  verifies(
    ["S3", "S13"],
    "leaves a call without an end in the ledger when its result cannot be in the log",
    async () => {
      const { session, journal, publish, published } = recording();
      const call = { call: ids.next("call"), tool: "bash", args: {} };
      publish(started("go"));
      publish({ kind: "ToolCallStarted", payload: call });
      await journal.intend(call);
      await byAnotherProcess(session, [{ ...published[0], id: 3 } as Envelope]);
      publish({
        kind: "ToolResult",
        payload: { call: call.call, tool: "bash", status: "ok", content: [text("done")] },
      });
      await expect(journal.flush()).rejects.toMatchObject({ code: "conflict" });
      expect(await store.orphans(session)).toMatchObject([{ call: call.call }]);
    },
  );

  verifies(
    ["S1"],
    "never leaves a session without events, also when nothing can be written after it was created",
    async () => {
      const stopped = new Proxy(store, {
        get(target, name) {
          if (name === "append") return () => Promise.reject(new StoreError("full", "The disk is full."));
          const value = target[name as keyof SessionStore];
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      const { session, journal, publish, published } = recording(stopped);
      publish(started("hello"));
      await journal.saved();
      expect(await store.get(session)).toMatchObject({ last_event: 1, title: "hello" });
      const stored = [];
      for await (const event of store.events(session)) stored.push(event);
      expect(stored).toEqual(published);
    },
  );

  verifies(["S6"], "takes a snapshot of a log that has become long, behind the end of a turn", async () => {
    const { session, journal, publish } = recording();
    publish(started("go"));
    for (let i = 0; i < SNAPSHOT_EVENTS; i++) publish({ kind: "TextDelta", payload: { text: "on " } });
    await journal.flush();
    expect(await store.snapshot?.(session)).toBeUndefined();
    publish(ended);
    await journal.close();
    expect((await store.snapshot?.(session))?.to).toBe(SNAPSHOT_EVENTS + 2);
    publish(started("again"));
    publish(ended);
    await journal.close();
    expect((await store.snapshot?.(session))?.to).toBe(SNAPSHOT_EVENTS + 2);
  });
});

/** The store, but creating and appending fail when `fault` says so. */
function failing(real: SessionStore, fault: () => boolean): SessionStore {
  const unlessFull = <T>(action: () => Promise<T>): Promise<T> =>
    fault() ? Promise.reject(new StoreError("full", "The disk is full.")) : action();
  return new Proxy(real, {
    get(target, name) {
      if (name === "append")
        return (...args: Parameters<SessionStore["append"]>) => unlessFull(() => target.append(...args));
      if (name === "create")
        return (...args: Parameters<SessionStore["create"]>) => unlessFull(() => target.create(...args));
      if (name === "intend")
        return (...args: Parameters<SessionStore["intend"]>) => unlessFull(() => target.intend(...args));
      const value = target[name as keyof SessionStore];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
