/** Expired content is deleted, and everything else stays unchanged. */
import assert from "node:assert/strict";
import { withOldShape } from "../../protocol/answer-ends.js";
import type { Envelope } from "../../protocol/envelope.js";
import { EVENT_KINDS, eventField } from "../../protocol/event-fields.js";
import type { EventBody } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { NO_USAGE } from "../../protocol/usage.js";
import type { Rule } from "./store.js";
import { all, at, createIds, envelope, many, newSession, refusal, says } from "./store-samples.js";

const SECRET = "zebra";
/** Too long for one row of any store. */
const LONG_SECRET = `${SECRET} line of output é\n`.repeat(1500);

/** One event of each kind at least, with the secret in every field that may hold text of people, models, files and commands. */
function everyKind(session: SessionId): Envelope[] {
  const ids = createIds();
  const [turn, call] = [ids.next("turn"), ids.next("call")];
  const failure = { reason: "NetworkFailed", message: SECRET, retryable: true } as const;
  const content = [{ type: "text", text: SECRET }] as const;
  const answer = { blocks: [{ type: "opaque", provider: "p", data: SECRET }] } as const;
  const cost = { turn, provider: "p", model: "m", usage: NO_USAGE, elapsed_ms: 1 };
  const name = { provider: "p", model: "m" };
  const subagent = { call, session: ids.next("sess"), type: "explore" };
  const nextAttempt = { turn, ...name, reason: "Overloaded", message: SECRET, wait_ms: 1, attempt: 1 } as const;
  const bodies: readonly EventBody[] = [
    { kind: "TurnStarted", payload: { turn, input: content, notice: SECRET } },
    { kind: "InputQueued", payload: { input: content, delivery: "steer", from: "cli_x" } },
    { kind: "InputSteered", payload: { turn, input: content, from: "cli_x" } },
    { kind: "InputDropped", payload: { inputs: [content], by: "cli_x" } },
    { kind: "ContextAdded", payload: { turn, source: "hook SessionStart", text: SECRET } },
    { kind: "RateLimited", payload: nextAttempt },
    { kind: "Retrying", payload: nextAttempt },
    { kind: "AnswerRetracted", payload: { turn, reason: "StreamInterrupted" } },
    {
      kind: "FailedOver",
      payload: { turn, route: "main", from: name, to: name, reason: "Overloaded", message: SECRET },
    },
    { kind: "ThinkingDelta", payload: { text: SECRET, provider: "p", opaque: { signature: SECRET } } },
    { kind: "TextDelta", payload: { text: SECRET } },
    { kind: "TextDelta", payload: { text: LONG_SECRET } },
    { kind: "AnswerEnded", payload: { turn, ...name, ...answer } },
    { kind: "CostIncremented", payload: withOldShape(cost, answer) },
    { kind: "ToolCallStarted", payload: { call, tool: "bash", args: { command: SECRET } } },
    {
      kind: "PermissionRequested",
      payload: {
        ...{ call, tool: "bash", args: { command: SECRET }, summary: SECRET, reason: SECRET, offer: [SECRET] },
        ...{ preview: LONG_SECRET, form: [{ name: SECRET, kind: "text", default: SECRET }] },
      },
    },
    {
      kind: "PermissionResolved",
      payload: { call, tool: "bash", decision: "allow_once", decided_by: "person", message: SECRET },
    },
    { kind: "ToolCallProgress", payload: { call, text: SECRET } },
    {
      kind: "ToolResult",
      payload: { call, tool: "bash", status: "ok", content, details: { diff: LONG_SECRET } },
    },
    { kind: "CompactionTriggered", payload: { turn, reason: "asked", summary: SECRET } },
    { kind: "ContextNearlyFull", payload: { turn, model: "offline:echo", used: 90, window: 100 } },
    { kind: "HookTimeout", payload: { event: "PreToolUse", command: SECRET, timeout_ms: 1 } },
    { kind: "HookError", payload: { event: "PreToolUse", command: SECRET, exit_code: 1 } },
    { kind: "CustomEvent", payload: { namespace: "n", kind: "k", payload: [{ deep: SECRET }] } },
    { kind: "ToolResultChanged", payload: { turn, call, tool: "bash", status: "ok", content, by: "hook" } },
    { kind: "MCPServerDown", payload: { name: "n", reason: SECRET, attempts: 3 } },
    { kind: "SubagentStarted", payload: { ...subagent, provider: "offline", model: "echo", description: SECRET } },
    { kind: "SubagentProgress", payload: { ...subagent, text: SECRET, elapsed_ms: 1, tokens: 2 } },
    { kind: "SubagentEnded", payload: { ...subagent, outcome: "answered", elapsed_ms: 1, usage: NO_USAGE } },
    { kind: "ModelRouted", payload: { turn, provider: "p", model: "m", route: "r", rule: "1" } },
    { kind: "ModeChanged", payload: { mode: "ask", by: "cli_1" } },
    { kind: "SkillRegistryChanged", payload: { added: ["s"], removed: [] } },
    { kind: "RerunBegan", payload: { of: session, after: 1, from: 1 } },
    { kind: "TokenExpiring", payload: { jti: "tok", expires_at: "2026-01-01T00:00:00.000Z" } },
    { kind: "StreamGap", payload: { from: 1, to: 2, reason: "r" } },
    { kind: "SessionContinued", payload: { replaced: [{ from: 3, to: 9 }] } },
    { kind: "Notice", payload: { turn, level: "warning", message: SECRET } },
    { kind: "Error", payload: { ...failure, turn } },
    { kind: "Cancelled", payload: { turn, by: "cli" } },
    { kind: "TurnTiming", payload: { turn, parts: { send: 1.5 } } },
    {
      kind: "TurnEnded",
      payload: { turn, outcome: "failed", text: SECRET, iterations: 1, usage: NO_USAGE, failure },
    },
    { kind: "SessionEnded", payload: { reason: "user" } },
  ];
  return bodies.map((body, i) => envelope(session, i + 1, body));
}

function assertExpired(read: readonly Envelope[], written: readonly Envelope[]): void {
  assert.equal(JSON.stringify(read).includes(SECRET), false, "content is still there");
  assert.equal(read.length, written.length);
  for (const [i, event] of read.entries()) {
    const { payload, ...before } = written[i] as Envelope;
    const { payload: left, ...after } = event;
    assert.deepEqual(after, before);
    const stays = (name: string) => ["name", "label"].includes(eventField(event.kind, name)?.holds ?? "");
    for (const name of Object.keys(payload).filter(stays)) {
      const values = [left, payload].map((each) => (each as unknown as Record<string, unknown>)[name]);
      assert.deepEqual(values[0], values[1], `${name} of ${event.kind}`);
    }
  }
}

export const EXPIRY_RULES: readonly Rule[] = [
  [
    "[S5] drops content and keeps the metadata, for every kind of event",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const [session, other] = [newSession(ids), newSession(ids)];
      const events = everyKind(session.id);
      assert.deepEqual([...new Set(events.map(({ kind }) => kind))].sort(), [...EVENT_KINDS].sort());
      await store.create(session);
      await store.append(session.id, events, "group");
      await store.create(other);
      await store.append(other.id, everyKind(other.id), "group");
      await store.expire(session.id, events.length);
      for (const each of [store, await open()]) {
        assertExpired(await all(each, session.id), events);
        assert.equal((await each.get(session.id))?.expired_to, events.length);
        assert.equal((await each.verify(session.id)).ok, true);
        assert.equal(await each.last(session.id, "TurnEnded"), events.length - 1);
      }
      assert.deepEqual(await all(store, other.id), JSON.parse(JSON.stringify(everyKind(other.id))));
      assert.equal((await store.get(other.id))?.expired_to, 0);
      assert.equal((await store.verify(other.id)).ok, true);
    },
  ],
  [
    "[S5] drops only the oldest content, further each time, and the session continues",
    async (open) => {
      const store = await open();
      const ids = createIds();
      const session = newSession(ids);
      await store.create(session);
      const written = Array.from({ length: 700 }, (_, i) => says(session.id, i + 1, `${SECRET} ${i + 1}`));
      const waiting = store.append(session.id, written, "group");
      const check = async (expired: number) => {
        const read = await all(store, session.id);
        assertExpired(read.slice(0, expired), written.slice(0, expired));
        assert.deepEqual(read.slice(expired), written.slice(expired));
        assert.deepEqual(await all(store, session.id, { after: expired }), written.slice(expired));
        assert.equal((await store.get(session.id))?.expired_to, expired);
        assert.equal((await store.verify(session.id)).ok, true);
      };
      await store.expire(session.id, 2);
      await waiting;
      await check(2);
      for (const [event, expired] of [
        [2, 2],
        [1, 2],
        [600, 600],
        [600, 600],
      ] as const) {
        await store.expire(session.id, event);
        await check(expired);
      }
      written.push(says(session.id, 701, `${SECRET} again`));
      await store.append(session.id, written.slice(-1), "sync");
      await check(600);
      await (await open()).expire(session.id, 9000);
      await check(701);
      written.push(...many(session.id, 702, 704));
      await store.append(session.id, written.slice(-3), "group");
      await check(701);
      await assert.rejects(store.expire(ids.next("sess"), 1), refusal("not-found"));
    },
  ],
  [
    "[S5] removes a session whose content has expired",
    async (open) => {
      const store = await open();
      const session = newSession(createIds());
      await store.create(session);
      await store.append(session.id, everyKind(session.id), "group");
      await store.expire(session.id, 10);
      await store.remove(session.id);
      await store.create(session);
      assert.deepEqual(await all(store, session.id), []);
      assert.equal((await store.get(session.id))?.expired_to, 0);
    },
  ],
  [
    "[S5] remembers when the user got the notice",
    async (open) => {
      const store = await open();
      const session = newSession(createIds());
      await store.create(session);
      assert.equal((await store.get(session.id))?.noticed_at, undefined);
      await store.update(session.id, { noticed_at: at(5) });
      assert.equal((await (await open()).get(session.id))?.noticed_at, at(5));
      await store.update(session.id, { title: "t" });
      await store.append(session.id, many(session.id, 1, 3), "group");
      await store.expire(session.id, 1);
      assert.deepEqual(
        (await store.list()).map(({ noticed_at, expired_to }) => ({ noticed_at, expired_to })),
        [{ noticed_at: at(5), expired_to: 1 }],
      );
      await store.update(session.id, { noticed_at: null });
      assert.equal(Object.hasOwn((await store.get(session.id)) ?? {}, "noticed_at"), false);
      await assert.rejects(store.update(session.id, { noticed_at: "soon" }), refusal("invalid"));
    },
  ],
];
