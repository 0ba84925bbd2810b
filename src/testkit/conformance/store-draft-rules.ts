import assert from "node:assert/strict";
import type { Rule } from "./store.js";
import { all, createIds, many, newSession, refusal } from "./store-samples.js";

export const DRAFT_RULES: readonly Rule[] = [
  [
    "[S6] hides a draft session from other processes until it is published, and then shows all of it",
    async (open) => {
      const [maker, other] = [await open(), await open()];
      const session = newSession(createIds());
      const lease = await maker.lease(session.id);
      await maker.create(session, { draft: true });
      await maker.append(session.id, many(session.id, 1, 600), "group");
      assert.equal((await maker.get(session.id))?.last_event, 600);
      assert.deepEqual(await all(maker, session.id), many(session.id, 1, 600));
      for (const store of [other, await open()]) {
        assert.equal(await store.get(session.id), undefined);
        assert.deepEqual(await store.list(), []);
      }
      await maker.publish(session.id);
      await lease.release();
      for (const store of [maker, other]) {
        assert.equal((await store.get(session.id))?.last_event, 600);
        assert.equal((await store.list()).length, 1);
        assert.deepEqual(await all(store, session.id), many(session.id, 1, 600));
        assert.equal((await store.verify(session.id)).ok, true);
      }
      await maker.append(session.id, many(session.id, 601, 602), "sync");
      assert.equal((await other.get(session.id))?.last_event, 602);
    },
  ],
  [
    "[S6] removes an abandoned draft, and lets it be built again",
    async (open) => {
      const killed = await open();
      const ids = createIds();
      const session = newSession(ids);
      const lease = await killed.lease(session.id);
      await killed.create(session, { draft: true });
      await killed.append(session.id, many(session.id, 1, 3), "sync");
      // As after a kill: no process holds the lease.
      await lease.release();
      const next = await open();
      assert.deepEqual(await next.list(), []);
      const again = await next.lease(session.id);
      await next.create(session, { draft: true });
      await next.append(session.id, many(session.id, 1, 2), "sync");
      // This session is not the draft that is being built.
      await (await open()).create(newSession(ids));
      await next.publish(session.id);
      await again.release();
      assert.deepEqual(await all(await open(), session.id), many(session.id, 1, 2));
      await assert.rejects(next.create(session, { draft: true }), refusal("conflict"));
      await next.remove(session.id).catch(() => {});
    },
  ],
];
