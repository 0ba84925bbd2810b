import assert from "node:assert/strict";
import type { Intent } from "../../base/session-store.js";
import type { Rule } from "./store.js";
import { all, at, createIds, many, newSession, refusal, says } from "./store-samples.js";

export const LEASE_RULES: readonly Rule[] = [
  [
    "[S13] leases a session to one holder, even before it exists, and reports the holder",
    async (open) => {
      const [first, second] = [await open(), await open()];
      const session = newSession(createIds());
      const lease = await first.lease(session.id);
      await first.create(session);
      await assert.rejects(second.lease(session.id), (error: Error & { code?: string }) => {
        assert.equal(error.code, "leased");
        assert.match(error.message, /is (already )?open in (this|another) process/);
        return true;
      });
      // Reading needs no lease.
      await first.append(session.id, many(session.id, 1, 2), "sync");
      assert.deepEqual(await all(second, session.id), many(session.id, 1, 2));
      assert.equal((await second.verify(session.id)).ok, true);
      await lease.release();
      const next = await second.lease(session.id);
      await assert.rejects(first.lease(session.id), refusal("leased"));
      await next.release();
      await (await first.lease(session.id)).release();
    },
  ],
  [
    "[S3] [S13] refuses the intent and the end of a call from a writer with an outdated head",
    async (open) => {
      const [first, second] = [await open(), await open()];
      const ids = createIds();
      const session = newSession(ids);
      await first.create(session);
      await first.append(session.id, many(session.id, 1, 3), "sync");
      const intent = (): Intent => ({
        call: ids.next("call"),
        session: session.id,
        tool: "bash",
        args_hash: "h",
        mutating: true,
        started_at: at(4),
      });
      const [begun, refused] = [intent(), intent()];
      await first.intend(begun, { session: session.id, head: 3 });
      await second.append(session.id, [says(session.id, 4)], "sync");
      for (const head of [2, 3, 5]) {
        await assert.rejects(first.intend(refused, { session: session.id, head }), refusal("conflict"));
        const end = first.conclude(begun.call, { outcome: "ok", completed_at: at(5) }, { session: session.id, head });
        await assert.rejects(end, refusal("conflict"));
      }
      assert.deepEqual(await second.orphans(session.id), [begun]);
      // Its own append counts, although it is not acknowledged yet.
      const appended = first.append(session.id, [says(session.id, 5)], "group");
      await first.conclude(begun.call, { outcome: "ok", completed_at: at(5) }, { session: session.id, head: 5 });
      await appended;
      assert.deepEqual(await second.orphans(session.id), []);
    },
  ],
  [
    "[S13] refuses to continue another history of the same length as the one that its holder left",
    async (open) => {
      const [holder, other] = [await open(), await open()];
      const ids = createIds();
      const session = newSession(ids);
      const lease = await holder.lease(session.id);
      await holder.create(session, { events: many(session.id, 1, 2) });
      // As a copy that a person puts back.
      await other.remove(session.id);
      await other.create(session, { events: [says(session.id, 1, "another"), says(session.id, 2, "history")] });
      const conflict = refusal("conflict");
      await assert.rejects(holder.append(session.id, [says(session.id, 3)], "sync"), conflict);
      const call = { call: ids.next("call"), session: session.id, tool: "bash", args_hash: "h", mutating: true };
      await assert.rejects(holder.intend({ ...call, started_at: at(4) }, { session: session.id, head: 2 }), conflict);
      await lease.release();
      assert.equal((await all(other, session.id)).length, 2);
      assert.deepEqual(await other.orphans(session.id), []);
      // A new holder learns where the log ends now.
      const next = await holder.lease(session.id);
      await holder.append(session.id, [says(session.id, 3)], "sync");
      await next.release();
    },
  ],
];
