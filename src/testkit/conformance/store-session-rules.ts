import assert from "node:assert/strict";
import type { SessionStore } from "../../base/session-store.js";
import type { SessionId } from "../../protocol/ids.js";
import type { Rule } from "./store.js";
import { all, at, createIds, difficultEvents, many, newSession, refusal, says } from "./store-samples.js";

export const SESSION_RULES: readonly Rule[] = [
  [
    "[S1] stores the record of a session",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const first = newSession(ids, { title: "l'été \0 𝄞" });
      const branch = newSession(ids, { branch_of: { session: first.id, event: 3 }, created_at: at(5) });
      const parent = { session: first.id, turn: ids.next("turn"), call: ids.next("call") };
      const subagent = newSession(ids, { parent, created_at: at(6) });
      await store.create(first);
      await store.create(branch);
      await store.create(subagent);
      const fresh = { pinned: false, last_event: 0, expired_to: 0 };
      assert.deepEqual(await store.get(first.id), { ...first, ...fresh, active_at: first.created_at });
      assert.deepEqual(await store.get(branch.id), { ...branch, ...fresh, active_at: branch.created_at });
      assert.deepEqual(await store.get(subagent.id), { ...subagent, ...fresh, active_at: subagent.created_at });
      const idsOf = async (parent: SessionId | "none") => (await store.list({ parent })).map(({ id }) => id);
      assert.deepEqual(await idsOf(first.id), [subagent.id]);
      assert.deepEqual(await idsOf("none"), [branch.id, first.id]);
      assert.equal(await store.get(ids.next("sess")), undefined);
      await assert.rejects(store.create(first), refusal("conflict"));
      await assert.rejects(store.create({ ...newSession(ids), log: first.log }), refusal("conflict"));
      await assert.rejects(store.create({ ...newSession(ids), id: "sess_1" }), refusal("invalid"));

      await store.append(first.id, many(first.id, 1, 7), "group");
      await store.update(first.id, { title: "new", provider: "p", model: "m", pinned: true, ended: "user" });
      const changed = { title: "new", provider: "p", model: "m", pinned: true, ended: "user" };
      const now = { ...first, ...fresh, ...changed, last_event: 7, active_at: at(7) };
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
    "[S1] creates a session together with its first events, or not at all",
    async (open) => {
      const [store, other] = [await open(), await open()];
      const ids = createIds();
      const session = newSession(ids);
      const lease = await store.lease(session.id);
      await store.create(session, { events: many(session.id, 1, 3) });
      for (const reader of [store, other]) {
        assert.equal((await reader.get(session.id))?.last_event, 3);
        assert.deepEqual(await all(reader, session.id), many(session.id, 1, 3));
        assert.deepEqual(await reader.verify(session.id), { ok: true, events: 3 });
      }
      await store.append(session.id, many(session.id, 4, 5), "sync");
      assert.deepEqual(await all(await open(), session.id), many(session.id, 1, 5));
      await lease.release();
      const refused = newSession(ids);
      await assert.rejects(store.create(refused, { events: many(refused.id, 2, 3) }), refusal("conflict"));
      const foreign = many(session.id, 1, 1);
      await assert.rejects(store.create(refused, { events: foreign }), refusal("invalid"));
      assert.equal(await other.get(refused.id), undefined);
      assert.deepEqual(
        (await other.list()).map(({ id }) => id),
        [session.id],
      );
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
      const names = async (filter?: Parameters<SessionStore["list"]>[0]) =>
        (await store.list(filter)).map(({ id }) => id);
      assert.deepEqual(await names(), [a.id, b.id, c.id]);
      assert.deepEqual(await names({ cwd: "/project" }), [a.id, c.id]);
      assert.deepEqual(await names({ pinned: true }), [c.id]);
      assert.deepEqual(await names({ pinned: false, limit: 1 }), [a.id]);
      assert.deepEqual(await names({ cwd: "/project", limit: 1 }), [a.id]);
    },
  ],
  [
    "[S1] removes a session and keeps another one with the same content",
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
    "[S1] refuses all calls after it is closed, and can be closed twice",
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
