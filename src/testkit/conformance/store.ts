/**
 * What every session store must do, ours and other people's. The runner's functions are handed in, so that this loads
 * without one: `describeStore("sqlite", openPlace, { describe, it })`.
 */
import assert from "node:assert/strict";
import { createIdSource } from "../../base/ulid.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventBody } from "../../protocol/events.js";
import type { CallId, LogId, SessionId } from "../../protocol/ids.js";

interface SessionFields {
  readonly id: SessionId;
  readonly log: LogId;
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  readonly created_at: string;
  readonly title?: string;
  readonly branch_of?: { readonly session: SessionId; readonly event: number };
}

interface IntentFields {
  readonly call: CallId;
  readonly session: SessionId;
  readonly tool: string;
  readonly args_hash: string;
  readonly mutating: boolean;
  readonly started_at: string;
}

/** The store's interface as this suite uses it; refusals are errors with a `code`. */
export interface StoreUnderTest {
  create(session: SessionFields): Promise<void>;
  append(session: SessionId, events: readonly Envelope[], durability: "group" | "sync"): Promise<void>;
  events(session: SessionId, range?: { readonly after?: number; readonly limit?: number }): AsyncIterable<Envelope>;
  list(filter?: {
    readonly cwd?: string;
    readonly pinned?: boolean;
    readonly limit?: number;
  }): Promise<
    readonly (SessionFields & { readonly pinned: boolean; readonly last_event: number; readonly active_at: string })[]
  >;
  get(session: SessionId): Promise<object | undefined>;
  update(
    session: SessionId,
    patch: {
      readonly title?: string;
      readonly provider?: string;
      readonly model?: string;
      readonly pinned?: boolean;
      readonly ended?: "idle" | "user" | "error" | "binary-shutdown" | null;
    },
  ): Promise<void>;
  remove(session: SessionId): Promise<void>;
  intend(intent: IntentFields): Promise<void>;
  conclude(
    call: CallId,
    conclusion: {
      readonly outcome: "ok" | "error" | "denied" | "cancelled" | "timeout" | "skipped";
      readonly completed_at: string;
      readonly result_event?: number;
      readonly note?: string;
    },
  ): Promise<void>;
  orphans(session: SessionId): Promise<readonly IntentFields[]>;
  verify(session: SessionId): Promise<{ readonly ok: boolean }>;
  close(): Promise<void>;
}

/** A place where stores can be opened, one after another or at once; all of them see the same sessions. */
export interface StorePlace {
  open(): Promise<StoreUnderTest>;
  /** Every store that was opened has been closed. */
  discard(): Promise<void>;
}

export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
}

export function describeStore(name: string, openPlace: () => Promise<StorePlace>, runner: TestRunner): void {
  runner.describe(`session store ${name}`, () => {
    for (const [title, body] of [...LOG_RULES, ...SESSION_RULES, ...LEDGER_RULES]) {
      runner.it(title, async () => {
        const place = await openPlace();
        const opened: StoreUnderTest[] = [];
        const open = async () => {
          const store = await place.open();
          opened.push(store);
          return store;
        };
        try {
          await body(open);
        } finally {
          for (const store of opened) await store.close();
          await place.discard();
        }
      });
    }
  });
}

type Open = () => Promise<StoreUnderTest>;
type Rule = readonly [title: string, body: (open: Open) => Promise<void>];

const START = Date.UTC(2026, 0, 31, 12);
const at = (ms: number) => new Date(START + ms).toISOString();

function createIds() {
  let seed = 0;
  const random = (bytes: Uint8Array) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = seed = (seed * 31 + 7) % 251;
  };
  return createIdSource({ wall: () => START, random });
}

function newSession(ids: ReturnType<typeof createIds>, more: Partial<SessionFields> = {}): SessionFields {
  const fields = { id: ids.next("sess"), log: ids.next("log"), cwd: "/project", provider: "offline", model: "echo" };
  return { ...fields, created_at: at(0), ...more };
}

const ORIGINATOR = createIds().next("cli");

function envelope(session: SessionId, id: number, body: EventBody): Envelope {
  return { id, session, originator: ORIGINATOR, ts: at(id), ...body } as Envelope;
}

const says = (session: SessionId, id: number, text = `text ${id}`) =>
  envelope(session, id, { kind: "TextDelta", payload: { text } });

const many = (session: SessionId, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => says(session, from + i));

async function all(
  store: StoreUnderTest,
  session: SessionId,
  range?: { readonly after?: number; readonly limit?: number },
): Promise<Envelope[]> {
  const found: Envelope[] = [];
  for await (const event of store.events(session, range)) found.push(event);
  return found;
}

const refusal = (code: string) => (error: unknown) => {
  assert.equal((error as { code?: unknown }).code, code);
  return true;
};

/** Payloads that have been lost or changed by stores before. */
function difficultEvents(session: SessionId): Envelope[] {
  const large = "line of output é\n".repeat(2000);
  const texts = [
    "",
    "\0a\0",
    "\ud800 half a pair",
    "\ufeffmark",
    "é𝄞\u2028",
    "'; DROP TABLE events; --",
    "x".repeat(8193),
    large,
  ];
  const events = texts.map((value, i) => says(session, i + 1, value));
  const payload = JSON.parse('{"__proto__":{"a":"b"},"2":[1,2.5,-1e300,true,null,"",{"$ref":"x"}],"1":{}}');
  const call = createIds().next("call");
  const content = [
    { type: "text", text: large },
    { type: "text", text: "" },
    { type: "text", text: large },
  ] as const;
  const bodies: EventBody[] = [
    { kind: "CustomEvent", payload: { namespace: "n", kind: "k", payload } },
    {
      kind: "CustomEvent",
      payload: { namespace: "n", kind: "k", payload: { __proto__: null, lines: texts, deep: [[large]] } },
    },
    { kind: "CustomEvent", payload: { namespace: "n", kind: "k", payload: Array(5000).fill("short") } },
    { kind: "ToolResult", payload: { call, tool: "bash", status: "ok", content, details: { exit: 0 } } },
    { kind: "SessionEnded", payload: { reason: "user" } },
  ];
  return [...events, ...bodies.map((body, i) => envelope(session, texts.length + 1 + i, body))];
}

const LOG_RULES: readonly Rule[] = [
  [
    "[S1] gives back the events of a session as they were, in order, also to another process",
    async (open) => {
      const store = await open();
      const session = newSession(createIds());
      await store.create(session);
      const events = difficultEvents(session.id);
      await store.append(session.id, events.slice(0, 3), "group");
      await store.append(session.id, events.slice(3), "sync");
      const expected = events.map((event) => JSON.parse(JSON.stringify(event)));
      assert.deepEqual(await all(store, session.id), expected);
      assert.deepEqual(await all(await open(), session.id), expected);
    },
  ],
  [
    "[S1] refuses gaps, repeats and other sessions' events, and writes nothing of them",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const [a, b] = [newSession(ids), newSession(ids)];
      await store.create(a);
      await store.create(b);
      await store.append(a.id, many(a.id, 1, 3), "group");
      for (const durability of ["group", "sync"] as const) {
        const conflict = refusal("conflict");
        await assert.rejects(store.append(a.id, [says(a.id, 5)], durability), conflict);
        await assert.rejects(store.append(a.id, [says(a.id, 3)], durability), conflict);
        await assert.rejects(store.append(a.id, [says(a.id, 4), says(a.id, 4)], durability), conflict);
        await assert.rejects(store.append(a.id, [says(a.id, 4), says(a.id, 6)], durability), conflict);
        await assert.rejects(store.append(b.id, [says(a.id, 1)], durability), refusal("invalid"));
        await assert.rejects(store.append(ids.next("sess"), [], durability), refusal("not-found"));
        const wrong = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY];
        for (const id of wrong) {
          await assert.rejects(store.append(a.id, [{ ...says(a.id, 4), id }], durability), refusal("invalid"));
        }
        await assert.rejects(store.append(a.id, [{ ...says(a.id, 4), ts: "today" }], durability), refusal("invalid"));
      }
      await store.append(a.id, [says(a.id, 4)], "sync");
      assert.deepEqual(await all(store, a.id), many(a.id, 1, 4));
      assert.deepEqual(await all(store, b.id), []);
    },
  ],
  [
    "[S1] refuses one append of a group without harm to the others",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const [a, b] = [newSession(ids), newSession(ids)];
      await store.create(a);
      await store.create(b);
      const outcomes = await Promise.allSettled([
        store.append(a.id, many(a.id, 1, 2), "group"),
        store.append(a.id, [says(a.id, 9)], "group"),
        store.append(b.id, many(b.id, 1, 2), "group"),
        store.append(a.id, [says(a.id, 3)], "group"),
      ]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled", "fulfilled"],
      );
      assert.deepEqual(await all(store, a.id), many(a.id, 1, 3));
      assert.deepEqual(await all(store, b.id), many(b.id, 1, 2));
    },
  ],
  [
    "[S1] keeps what an event was when it was appended, and shows it to readers before it is acknowledged",
    async (open) => {
      const store = await open();
      const session = newSession(createIds());
      await store.create(session);
      const payload = { text: "before" };
      const done = store.append(session.id, [envelope(session.id, 1, { kind: "TextDelta", payload })], "group");
      payload.text = "after";
      assert.deepEqual(await all(store, session.id), [says(session.id, 1, "before")]);
      await done;
    },
  ],
  [
    "[S1] reads a range",
    async (open) => {
      const store = await open();
      const session = newSession(createIds());
      await store.create(session);
      await store.append(session.id, many(session.id, 1, 700), "group");
      assert.deepEqual(await all(store, session.id, { after: 698 }), many(session.id, 699, 700));
      assert.deepEqual(await all(store, session.id, { limit: 2 }), many(session.id, 1, 2));
      assert.deepEqual(await all(store, session.id, { after: 200, limit: 300 }), many(session.id, 201, 500));
      assert.deepEqual(await all(store, session.id, { limit: 0 }), []);
      assert.deepEqual(await all(store, session.id, { after: 700 }), []);
      assert.deepEqual(await all(store, session.id, { after: 9000, limit: 3 }), []);
    },
  ],
  [
    "[S1] lets two writers work at once, and only one of them write an event",
    async (open) => {
      const [first, second] = [await open(), await open()];
      const ids = createIds();
      const [a, b] = [newSession(ids), newSession(ids)];
      await first.create(a);
      await second.create(b);
      for (let id = 1; id <= 50; id++) {
        const durability = id % 10 === 0 ? "sync" : "group";
        await Promise.all([
          first.append(a.id, [says(a.id, id)], durability),
          second.append(b.id, [says(b.id, id)], durability),
        ]);
      }
      const race = [first, second].map((store) => store.append(a.id, [says(a.id, 51)], "sync"));
      const outcomes = await Promise.allSettled(race);
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      assert.deepEqual(await all(second, a.id), many(a.id, 1, 51));
      assert.deepEqual(await all(first, b.id), many(b.id, 1, 50));
    },
  ],
  [
    "[S11] verifies what was written",
    async (open) => {
      const store = await open();
      const session = newSession(createIds());
      await store.create(session);
      assert.equal((await store.verify(session.id)).ok, true);
      await store.append(session.id, difficultEvents(session.id), "group");
      assert.equal((await store.verify(session.id)).ok, true);
      await assert.rejects(
        store.verify(createIds().next("sess").replace(/.$/, "Z") as SessionId),
        refusal("not-found"),
      );
    },
  ],
];

const SESSION_RULES: readonly Rule[] = [
  [
    "[S1] keeps what is known of a session",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const first = newSession(ids, { title: "l'été \0 𝄞" });
      const branch = newSession(ids, { branch_of: { session: first.id, event: 3 }, created_at: at(5) });
      await store.create(first);
      await store.create(branch);
      const fresh = { pinned: false, last_event: 0 };
      assert.deepEqual(await store.get(first.id), { ...first, ...fresh, active_at: first.created_at });
      assert.deepEqual(await store.get(branch.id), { ...branch, ...fresh, active_at: branch.created_at });
      assert.equal(await store.get(ids.next("sess")), undefined);
      await assert.rejects(store.create(first), refusal("conflict"));
      await assert.rejects(store.create({ ...newSession(ids), log: first.log }), refusal("conflict"));
      await assert.rejects(store.create({ ...newSession(ids), id: "sess_1" }), refusal("invalid"));

      await store.append(first.id, many(first.id, 1, 7), "group");
      await store.update(first.id, { title: "new", provider: "p", model: "m", pinned: true, ended: "user" });
      const changed = { title: "new", provider: "p", model: "m", pinned: true, ended: "user" };
      const now = { ...first, ...changed, last_event: 7, active_at: at(7) };
      assert.deepEqual(await store.get(first.id), now);
      await store.update(first.id, {});
      assert.deepEqual(await (await open()).get(first.id), now);
      await store.update(first.id, { ended: null, pinned: false });
      const { ended: _, ...open_again } = now;
      assert.deepEqual(await store.get(first.id), { ...open_again, pinned: false });
      await assert.rejects(store.update(ids.next("sess"), { title: "x" }), refusal("not-found"));
    },
  ],
  [
    "[S1] lists the most recently active sessions first",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const [a, b, c] = [newSession(ids), newSession(ids, { cwd: "/other" }), newSession(ids)];
      for (const each of [a, b, c]) await store.create(each);
      await store.append(a.id, many(a.id, 1, 9), "group");
      await store.append(b.id, many(b.id, 1, 2), "group");
      await store.update(c.id, { pinned: true });
      const names = async (filter?: Parameters<StoreUnderTest["list"]>[0]) =>
        (await store.list(filter)).map(({ id }) => id);
      assert.deepEqual(await names(), [a.id, b.id, c.id]);
      assert.deepEqual(await names({ cwd: "/project" }), [a.id, c.id]);
      assert.deepEqual(await names({ pinned: true }), [c.id]);
      assert.deepEqual(await names({ pinned: false, limit: 1 }), [a.id]);
      assert.deepEqual(await names({ cwd: "/project", limit: 1 }), [a.id]);
    },
  ],
  [
    "[S1] removes a session and nothing of another one that holds the same content",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const [a, b] = [newSession(ids), newSession(ids)];
      for (const each of [a, b]) {
        await store.create(each);
        await store.append(each.id, difficultEvents(each.id), "group");
      }
      const call = ids.next("call");
      await store.intend({ call, session: a.id, tool: "bash", args_hash: "h", mutating: true, started_at: at(0) });
      const before = await all(store, b.id);
      await store.remove(a.id);
      assert.equal(await store.get(a.id), undefined);
      await assert.rejects(all(store, a.id), refusal("not-found"));
      await assert.rejects(store.remove(a.id), refusal("not-found"));
      await assert.rejects(store.conclude(call, { outcome: "ok", completed_at: at(1) }), refusal("not-found"));
      assert.deepEqual(await all(store, b.id), before);
      assert.equal((await store.verify(b.id)).ok, true);
      await store.create(a);
      assert.deepEqual(await all(store, a.id), []);
    },
  ],
  [
    "[S1] refuses everything once it is closed, and closes twice",
    async (open) => {
      const store = await open();
      const session = newSession(createIds());
      await store.create(session);
      const last = store.append(session.id, [says(session.id, 1)], "group");
      await store.close();
      await store.close();
      await last;
      await assert.rejects(store.append(session.id, [says(session.id, 2)], "sync"), refusal("closed"));
      await assert.rejects(store.get(session.id), refusal("closed"));
      assert.deepEqual(await all(await open(), session.id), [says(session.id, 1)]);
    },
  ],
];

const LEDGER_RULES: readonly Rule[] = [
  [
    "[S3] knows which calls began and have no end",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const session = newSession(ids);
      await store.create(session);
      const intent = (tool: string, mutating: boolean, ms: number): IntentFields => ({
        call: ids.next("call"),
        session: session.id,
        tool,
        args_hash: `hash of ${tool}`,
        mutating,
        started_at: at(ms),
      });
      const [read, bash, edit] = [intent("read", false, 1), intent("bash", true, 2), intent("edit", true, 3)];
      for (const each of [edit, read, bash]) await store.intend(each);
      assert.deepEqual(await store.orphans(session.id), [read, bash, edit]);
      await store.conclude(bash.call, { outcome: "ok", completed_at: at(4), result_event: 1 });
      const reopened = await open();
      assert.deepEqual(await reopened.orphans(session.id), [read, edit]);
      await reopened.conclude(edit.call, { outcome: "ok", completed_at: at(5), note: "seen on the disk" });
      await reopened.conclude(read.call, { outcome: "error", completed_at: at(5) });
      assert.deepEqual(await store.orphans(session.id), []);
    },
  ],
  [
    "[S3] lets a call begin once and end once, whoever asks",
    async (open) => {
      const [first, second] = [await open(), await open()];
      const ids = createIds();
      const session = newSession(ids);
      await first.create(session);
      for (const mutating of [true, false]) {
        const call = ids.next("call");
        const intent = { call, session: session.id, tool: "bash", args_hash: "h", mutating, started_at: at(1) };
        await assert.rejects(first.conclude(call, { outcome: "ok", completed_at: at(2) }), refusal("not-found"));
        const begun = await Promise.allSettled([first.intend(intent), second.intend(intent), first.intend(intent)]);
        assert.equal(begun.filter(({ status }) => status === "fulfilled").length, 1);
        const end = { outcome: "ok", completed_at: at(2) } as const;
        const ended = await Promise.allSettled([first.conclude(call, end), second.conclude(call, end)]);
        assert.equal(ended.filter(({ status }) => status === "fulfilled").length, 1);
        await assert.rejects(second.intend(intent), refusal("conflict"));
        await assert.rejects(first.conclude(call, { ...end, outcome: "error" }), refusal("conflict"));
      }
      const stranger = { session: ids.next("sess"), tool: "bash", args_hash: "h", mutating: true, started_at: at(1) };
      await assert.rejects(first.intend({ call: ids.next("call"), ...stranger }), refusal("not-found"));
    },
  ],
];
