import assert from "node:assert/strict";
import type { SessionId } from "../../protocol/ids.js";
import type { Rule } from "./store.js";
import { all, createIds, difficultEvents, envelope, many, newSession, refusal, says } from "./store-samples.js";

export const LOG_RULES: readonly Rule[] = [
  [
    "[S1] returns the events of a session unchanged and in order, also to another process",
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
    "[S1] refuses gaps, repeats and other sessions' events, and writes none of them",
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
    "[S1] stores an event as it was at the append, and shows it to readers before it is acknowledged",
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
    "[S1] finds the last event of a kind",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const [session, other] = [newSession(ids), newSession(ids)];
      await store.create(session);
      await store.create(other);
      assert.equal(await store.last(session.id, "TextDelta"), undefined);
      const turn = ids.next("turn");
      const starts = (id: number) => envelope(session.id, id, { kind: "TurnStarted", payload: { turn, input: [] } });
      await store.append(session.id, [starts(1), says(session.id, 2), starts(3), ...many(session.id, 4, 600)], "group");
      await store.append(other.id, many(other.id, 1, 9), "group");
      assert.equal(await store.last(session.id, "TurnStarted"), 3);
      assert.equal(await store.last(session.id, "TextDelta"), 600);
      assert.equal(await store.last(session.id, "SessionEnded"), undefined);
      assert.equal(await store.last(other.id, "TurnStarted"), undefined);
      const waiting = store.append(session.id, [starts(601)], "group");
      assert.equal(await store.last(session.id, "TurnStarted"), 601);
      await waiting;
      assert.equal(await (await open()).last(session.id, "TurnStarted"), 601);
      await assert.rejects(store.last(ids.next("sess"), "TurnStarted"), refusal("not-found"));
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
