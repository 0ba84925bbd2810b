/** Logs from before AnswerEnded: the fixture holds the events that such a program wrote, its conversation and its turns. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { oldShape, withOldShape } from "../protocol/answer-ends.js";
import type { Message } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { NO_USAGE } from "../protocol/usage.js";
import { type TurnSummary, turnsOf } from "./branch.js";
import { rebuildConversation } from "./conversation.js";
import { openFilesStore } from "./files/files-store.js";
import { MessageFold } from "./files/message-fold.js";
import { searchSessions } from "./search.js";
import { readConversation } from "./snapshot.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import type { NewSession, SessionRecord, SessionStore } from "./store.js";
import { exportJsonl } from "./transfer/export-jsonl.js";
import { exportMarkdown } from "./transfer/export-markdown.js";
import { importTranscript } from "./transfer/import.js";
import { collect, OPTIONS, stream } from "./transfer/test-support/sample.js";

interface OldLog {
  readonly events: readonly Envelope[];
  readonly messages: readonly Message[];
  readonly turns: readonly TurnSummary[];
}

const KEY = new Uint8Array(32).fill(7);
const fixture = new URL("test-support/log-without-answer-ended.json", import.meta.url);
const old = JSON.parse(await readFile(fixture, "utf8")) as OldLog;
const first = old.events[0] as Envelope;
const session: NewSession = {
  id: first.session,
  log: "log_01M7GFM4V46WNFRT73E4KGDGTY",
  cwd: "/project",
  provider: "scripted",
  model: "test",
  created_at: first.ts,
};

/** The same log as a program writes it that has AnswerEnded. */
function asWrittenNow(events: readonly Envelope[]): Envelope[] {
  const bodies = events.flatMap((event): Omit<Envelope, "id">[] => {
    if (event.kind !== "CostIncremented") return [event];
    const { turn, provider, model, abandoned, purpose } = event.payload;
    if (turn === undefined || abandoned !== undefined || purpose !== undefined) return [event];
    const payload = { turn, provider, model, ...oldShape(event.payload) };
    const end = { ...event, kind: "AnswerEnded", payload } as const;
    return [end, { ...event, payload: withOldShape(event.payload, undefined) }];
  });
  return bodies.map((body, i) => ({ ...body, id: i + 1 }) as Envelope);
}

function draftsOf(events: readonly Envelope[]) {
  const fold = new MessageFold(0);
  for (const event of events) fold.take(event);
  return [...fold.changed.values()].sort((a, b) => a.at - b.at).map(({ entry }) => entry);
}

async function markdownOf(events: readonly Envelope[]): Promise<string> {
  const record: SessionRecord = { ...session, last_event: 0, active_at: first.ts, pinned: false, expired_to: 0 };
  return (await collect(exportMarkdown(record, stream(events), OPTIONS))).join("");
}

describe("a log without AnswerEnded", () => {
  it("has none, and costs that tell the shape of an answer", () => {
    expect(old.events.some(({ kind }) => kind === "AnswerEnded")).toBe(false);
    expect(old.events.filter((event) => event.kind === "CostIncremented" && oldShape(event.payload))).toHaveLength(4);
  });

  it("reads like the same log with AnswerEnded", async () => {
    const now = asWrittenNow(old.events);
    expect(now.length).toBeGreaterThan(old.events.length);
    expect((await rebuildConversation(stream(now))).messages).toEqual(old.messages);
    expect(draftsOf(now)).toEqual(draftsOf(old.events));
    expect(await markdownOf(now)).toBe(await markdownOf(old.events));
  });

  it("depends on no cost once it has AnswerEnded", async () => {
    const now = asWrittenNow(old.events);
    const other = { provider: "other", model: "other", usage: { ...NO_USAGE, output: 1 } };
    const changed = now.map((event) =>
      event.kind === "CostIncremented" ? ({ ...event, payload: { ...event.payload, ...other } } as Envelope) : event,
    );
    const without = now.filter(({ kind }) => kind !== "CostIncremented");
    for (const events of [changed, without]) {
      expect((await rebuildConversation(stream(events))).messages).toEqual(old.messages);
    }
  });

  verifies(["S6"], "is imported from an old export", async () => {
    const record: SessionRecord = { ...session, last_event: 48, active_at: first.ts, pinned: false, expired_to: 0 };
    const lines = await collect(exportJsonl(record, stream(old.events), OPTIONS));
    const { events, notes } = await importTranscript(stream(lines), OPTIONS);
    const imported = await collect(events);
    expect(notes).toEqual([]);
    const { messages } = await rebuildConversation(stream(imported));
    expect(messages.map(({ role, content }) => [role, content.length])).toEqual(
      old.messages.map(({ role, content }) => [role, content.length]),
    );
    expect(await markdownOf(imported)).toBe(await markdownOf(old.events));
  });
});

describe.each(["sqlite", "files"] as const)("an old session in the %s store", (kind) => {
  let folder: string;
  let store: SessionStore;
  const open = () =>
    kind === "sqlite"
      ? openSqliteStore({ path: join(folder, "sessions.db"), key: KEY, groupDelayMs: 0 })
      : openFilesStore({ folder, key: KEY });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "oxbow-old-log-"));
    store = await open();
    await store.create(session);
    await store.append(session.id, old.events, "sync");
    await store.close();
    store = await open();
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  const record = async () => (await store.get(session.id)) as SessionRecord;

  verifies(["S1", "S6"], "opens with its conversation and its turns, and verifies", async () => {
    const { rebuilt } = await readConversation(store, await record());
    expect(rebuilt.messages).toEqual(old.messages);
    expect(rebuilt.open).toEqual([]);
    expect(await collect(turnsOf(store.events(session.id)))).toEqual(old.turns);
    expect(await store.verify(session.id)).toMatchObject({ ok: true });
    const hits = await collect(searchSessions(store, '"Words behind a call."'));
    expect(hits).toHaveLength(1);
  });

  verifies(["S6"], "continues with answers that have an AnswerEnded", async () => {
    const turn = "turn_01M7GFM4V46WNFRT73E4KGDGXX";
    const rest = { provider: "scripted", model: "new" };
    const at = old.events.length;
    const bodies = [
      { kind: "TurnStarted", payload: { turn, input: [{ type: "text", text: "And then?" }] } },
      { kind: "TextDelta", payload: { text: "Then that." } },
      { kind: "AnswerEnded", payload: { turn, ...rest, stop: "end" } },
      { kind: "CostIncremented", payload: { turn, ...rest, usage: { ...NO_USAGE, input: 2 }, elapsed_ms: 1 } },
      { kind: "TurnEnded", payload: { turn, outcome: "answered", text: "Then that.", iterations: 1, usage: NO_USAGE } },
    ];
    const added = bodies.map((body, i) => ({ ...first, id: at + 1 + i, ...body }) as Envelope);
    await store.append(session.id, added, "sync");
    const { rebuilt } = await readConversation(store, await record());
    expect(rebuilt.messages).toEqual([
      ...old.messages,
      { role: "user", content: [{ type: "text", text: "And then?" }] },
      { role: "assistant", content: [{ type: "text", text: "Then that." }] },
    ]);
    const spent = await store.spending({ session: session.id });
    const calls = Object.fromEntries(spent.map(({ model, calls }) => [model, calls]));
    // Calls that were refused before a token was counted are not among them.
    expect(calls).toEqual({ test: 6, small: 1, new: 1 });
  });
});
