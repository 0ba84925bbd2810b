/** A branch begins with the turns of another session and then stands alone. */
import assert from "node:assert/strict";
import type { NewBranch, SessionStore } from "../../base/session-store.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventBody } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { NO_USAGE } from "../../protocol/usage.js";
import type { Rule } from "./store.js";
import { all, at, createIds, envelope, newSession, refusal } from "./store-samples.js";

type Ids = ReturnType<typeof createIds>;

const TURN_EVENTS = 6;
/** Too long for one row of any store. */
const LONG = "a line of output é\n".repeat(1500);

/** Turn after turn, each with an answer, a call and a long result that all of them share. */
function turns(session: SessionId, ids: Ids, from: number, to: number): Envelope[] {
  const bodies: EventBody[] = [];
  for (let i = from; i <= to; i++) {
    const [turn, call] = [ids.next("turn"), ids.next("call")];
    const name = { provider: "one", model: "m" };
    bodies.push(
      { kind: "TurnStarted", payload: { turn, input: [{ type: "text", text: `question ${i}` }] } },
      { kind: "TextDelta", payload: { text: `answer ${i}` } },
      { kind: "ToolCallStarted", payload: { call, tool: "bash", args: { command: `run ${i}` } } },
      { kind: "ToolResult", payload: { call, tool: "bash", status: "ok", content: [{ type: "text", text: LONG }] } },
      {
        kind: "CostIncremented",
        payload: {
          turn,
          ...name,
          usage: NO_USAGE,
          elapsed_ms: 1,
          cost: { input: 0, output: 1, cache_read: 0, cache_write: 0, usd: 1 },
        },
      },
      {
        kind: "TurnEnded",
        payload: { turn, outcome: "answered", text: `answer ${i}`, iterations: 1, usage: NO_USAGE },
      },
    );
  }
  return bodies.map((body, i) => envelope(session, (from - 1) * TURN_EVENTS + i + 1, body));
}

async function source(store: SessionStore, ids: Ids, count: number): Promise<{ id: SessionId; events: Envelope[] }> {
  const session = newSession(ids);
  const events = turns(session.id, ids, 1, count);
  await store.create(session);
  await store.append(session.id, events, "sync");
  return { id: session.id, events };
}

const branchOf = (ids: Ids, session: SessionId, event: number): NewBranch => ({
  ...newSession(ids, { created_at: at(900) }),
  branch_of: { session, event },
});

/** Without the ids of session, turn and call, which are new in a branch. */
const words = (events: readonly Envelope[]) =>
  events.map(({ id, kind, originator, ts, payload }) =>
    JSON.stringify([id, kind, originator, ts, payload]).replace(/(turn|call)_[0-9A-Z]{26}/g, "$1"),
  );

const idsIn = (events: readonly Envelope[]) => JSON.stringify(events).match(/(?:sess|turn|call)_[0-9A-Z]{26}/g) ?? [];

async function isWhole(store: SessionStore, id: SessionId, expected: readonly string[]): Promise<void> {
  assert.deepEqual(words(await all(store, id)), expected);
  assert.deepEqual(await store.verify(id), { ok: true, events: expected.length });
}

export const BRANCH_RULES: readonly Rule[] = [
  [
    "[S6] makes a branch with the turns of another session and new ids, and continues it",
    async (open) => {
      const [store, other] = [await open(), await open()];
      const ids = createIds();
      const { id, events } = await source(store, ids, 3);
      const branch = branchOf(ids, id, 2 * TURN_EVENTS);
      await store.branch(branch);
      const copied = events.slice(0, 2 * TURN_EVENTS);
      for (const each of [store, other]) {
        await isWhole(each, branch.id, words(copied));
        const record = await each.get(branch.id);
        assert.deepEqual([record?.last_event, record?.branch_of], [2 * TURN_EVENTS, branch.branch_of]);
      }
      const made = await all(store, branch.id);
      assert.ok(made.every(({ session }) => session === branch.id));
      const old = new Set(idsIn(copied));
      assert.deepEqual(
        idsIn(made).filter((each) => old.has(each)),
        [],
      );
      assert.equal(new Set(idsIn(made)).size, old.size);
      // From any place, and by kind.
      assert.deepEqual(await all(store, branch.id, { after: 7, limit: 2 }), made.slice(7, 9));
      assert.equal(await store.last(branch.id, "TurnEnded"), 2 * TURN_EVENTS);
      assert.equal((await store.count?.(branch.id, "TurnEnded")) ?? 2, 2);
      const more = turns(branch.id, ids, 3, 3);
      await other.append(branch.id, more, "sync");
      await isWhole(store, branch.id, words([...copied, ...more]));
      assert.deepEqual((await all(store, branch.id)).slice(-TURN_EVENTS), more);
      await isWhole(store, id, words(events));
      // What a branch repeats was paid once.
      const paid = async (session: SessionId) =>
        (await store.spending({ session })).reduce((sum, { usd }) => sum + usd, 0);
      assert.deepEqual([await paid(id), await paid(branch.id)], [3, 1]);
    },
  ],
  [
    "[S6] makes branches of branches, before and after the place where they began",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const { id, events } = await source(store, ids, 3);
      const first = branchOf(ids, id, 2 * TURN_EVENTS);
      await store.branch(first);
      const more = turns(first.id, ids, 3, 4);
      await store.append(first.id, more, "sync");
      const behind = branchOf(ids, first.id, 3 * TURN_EVENTS);
      const before = branchOf(ids, first.id, TURN_EVENTS);
      await store.branch(behind);
      await store.branch(before);
      const last = branchOf(ids, behind.id, 3 * TURN_EVENTS);
      await store.branch(last);
      const expected = words([...events.slice(0, 2 * TURN_EVENTS), ...more.slice(0, TURN_EVENTS)]);
      await isWhole(store, behind.id, expected);
      await isWhole(store, last.id, expected);
      await isWhole(store, before.id, words(events.slice(0, TURN_EVENTS)));
      const every = [id, first.id, behind.id, before.id, last.id];
      const starts = await Promise.all(every.map(async (each) => (await all(store, each, { limit: 1 }))[0]?.payload));
      assert.equal(new Set(starts.map((start) => JSON.stringify(start))).size, every.length);
      // All between go; the rest stays whole and goes on.
      for (const each of [id, first.id, behind.id]) await store.remove(each);
      await isWhole(await open(), last.id, expected);
      const added = turns(last.id, ids, 4, 4);
      await store.append(last.id, added, "sync");
      await isWhole(await open(), last.id, [...expected, ...words(added)]);
    },
  ],
  [
    "[S6] lets neither of two branches lose content with the other",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const { id, events } = await source(store, ids, 2);
      const [kept, expired] = [branchOf(ids, id, 2 * TURN_EVENTS), branchOf(ids, id, 2 * TURN_EVENTS)];
      await store.branch(kept);
      await store.branch(expired);
      await store.expire(expired.id, TURN_EVENTS);
      await isWhole(store, id, words(events));
      await store.expire(id, 2 * TURN_EVENTS);
      await isWhole(store, kept.id, words(events));
      for (const [session, to] of [
        [expired.id, TURN_EVENTS],
        [id, 2 * TURN_EVENTS],
      ] as const) {
        const left = words(await all(store, session));
        assert.ok(left.slice(0, to).every((line) => !/(question|answer|run) \d|a line of output/.test(line)));
        assert.deepEqual(left.slice(to), words(events).slice(to));
        assert.deepEqual(await store.verify(session), { ok: true, events: 2 * TURN_EVENTS });
      }
      // A branch of what has expired says so.
      const late = branchOf(ids, id, TURN_EVENTS);
      await store.branch(late);
      assert.equal((await store.get(late.id))?.expired_to, TURN_EVENTS);
      await isWhole(store, late.id, words(await all(store, id)).slice(0, TURN_EVENTS));
      await store.remove(id);
      await isWhole(await open(), kept.id, words(events));
    },
  ],
  [
    "[S6] refuses a branch in the middle of a turn, of no session, and one that exists, and leaves nothing",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const { id } = await source(store, ids, 2);
      for (const event of [0, 1, TURN_EVENTS - 1, 2 * TURN_EVENTS + 1, 99]) {
        await assert.rejects(store.branch(branchOf(ids, id, event)), refusal("invalid"));
      }
      await assert.rejects(store.branch(branchOf(ids, newSession(ids).id, TURN_EVENTS)), refusal("not-found"));
      const branch = branchOf(ids, id, TURN_EVENTS);
      await store.branch(branch);
      await assert.rejects(store.branch(branch), refusal("conflict"));
      await assert.rejects((await open()).branch(branch), refusal("conflict"));
      assert.deepEqual((await (await open()).list()).map((record) => record.id).sort(), [id, branch.id].sort());
    },
  ],
];
