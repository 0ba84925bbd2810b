import assert from "node:assert/strict";
import type { Intent } from "../../base/session-store.js";
import type { Rule } from "./store.js";
import { at, createIds, newSession, refusal } from "./store-samples.js";

export const LEDGER_RULES: readonly Rule[] = [
  [
    "[S3] lists the calls that began and have no end",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const session = newSession(ids);
      await store.create(session);
      const intent = (tool: string, mutating: boolean, ms: number): Intent => ({
        call: ids.next("call"),
        session: session.id,
        tool,
        args_hash: `hash of ${tool}`,
        mutating,
        started_at: at(ms),
      });
      const [read, edit] = [intent("read", false, 1), intent("edit", true, 3)];
      const bash: Intent = { ...intent("bash", true, 2), whole: true };
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
    "[S3] lets a call begin once and end once, for every caller",
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
