import assert from "node:assert/strict";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";
import type { Rule } from "./store.js";
import { at, createIds, envelope, newSession, says } from "./store-samples.js";

const MINUTE = 60_000;
const turn = createIds().next("turn");

interface Call {
  readonly provider?: string;
  readonly model?: string;
  readonly usd?: number;
  readonly minutes?: number;
  readonly tokens?: number;
}

function paid(
  session: SessionId,
  id: number,
  { provider = "one", model = "m", usd, minutes = 0, tokens = 10 }: Call,
): Envelope {
  const usage = { input: tokens, output: 2, cache_read: 3, cache_write: 4, reasoning: 1 };
  const cost = usd === undefined ? {} : { cost: { usd, input: usd, output: 0, cache_read: 0, cache_write: 0 } };
  const body = { kind: "CostIncremented", payload: { turn, provider, model, usage, elapsed_ms: 5, ...cost } } as const;
  return { ...envelope(session, id, body), ts: at(minutes * MINUTE) };
}

export const SPENDING_RULES: readonly Rule[] = [
  [
    "[M14] adds up the spending by session, provider, model and quarter of an hour",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const [here, there] = [newSession(ids), newSession(ids, { cwd: "/elsewhere" })];
      await store.create(here);
      await store.create(there);
      const { id } = here;
      await store.append(id, [paid(id, 1, { usd: 0.1 }), says(id, 2), paid(id, 3, { usd: 0.2, minutes: 14 })], "group");
      await store.append(id, [paid(id, 4, { provider: "two", usd: 1 }), paid(id, 5, { minutes: 16 })], "sync");
      await store.append(there.id, [paid(there.id, 1, { usd: 0, minutes: 40 })], "sync");
      const reopened = await open();
      for (const reader of [store, reopened]) {
        const rows = await reader.spending();
        const reported = rows.map(({ session, provider, calls, usd, unpriced, from }) => [
          session,
          provider,
          calls,
          usd,
          unpriced,
          from,
        ]);
        assert.deepEqual(
          new Set(reported.map((row) => JSON.stringify(row))),
          new Set(
            [
              [id, "one", 2, 0.3, 0, at(0)],
              [id, "two", 1, 1, 0, at(0)],
              [id, "one", 1, 0, 1, at(15 * MINUTE)],
              [there.id, "one", 1, 0, 0, at(30 * MINUTE)],
            ].map((row) => JSON.stringify(row)),
          ),
        );
        const first = rows.find(({ calls }) => calls === 2);
        assert.deepEqual(first?.usage, { input: 20, output: 4, cache_read: 6, cache_write: 8, reasoning: 2 });
        assert.equal(first?.elapsed_ms, 10);
        assert.deepEqual(
          rows.map(({ from }) => from),
          rows.map(({ from }) => from).sort(),
        );
        const only = async (filter: Parameters<typeof reader.spending>[0]) => (await reader.spending(filter)).length;
        assert.equal(await only({ session: there.id }), 1);
        assert.equal(await only({ cwd: "/project" }), 3);
        assert.equal(await only({ since: at(20 * MINUTE) }), 2);
        assert.equal(await only({ since: at(120 * MINUTE) }), 0);
      }
    },
  ],
  [
    "[M14] counts neither copied calls, nor refused calls, nor removed sessions; expired ones stay",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const session = newSession(ids);
      const { id } = session;
      await store.create(session);
      await store.append(id, [paid(id, 1, { usd: 5 }), says(id, 2)], "sync", { copied: true });
      const usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 };
      const payload = {
        turn,
        provider: "one",
        model: "m",
        usage,
        elapsed_ms: 1,
        answer: { interrupted: true },
      } as const;
      await store.append(id, [envelope(id, 3, { kind: "CostIncremented", payload })], "sync");
      assert.deepEqual(await store.spending(), []);
      await store.append(id, [paid(id, 4, { usd: 2 })], "sync");
      await store.expire(id, 4);
      assert.deepEqual(
        (await store.spending()).map(({ usd }) => usd),
        [2],
      );
      await store.remove(id);
      assert.deepEqual(await store.spending(), []);
    },
  ],
];
