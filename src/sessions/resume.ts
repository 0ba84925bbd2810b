/** What a new run needs to go on with a stored session (features S5, S6). Reads from the last summary on, or from what has not expired. */
import type { Envelope } from "../protocol/envelope.js";
import type { CallId, SessionId } from "../protocol/ids.js";
import { type RebuiltConversation, rebuildConversation } from "./conversation.js";
import { type Intent, type SessionRecord, type SessionStore, StoreError } from "./store.js";

export interface StoredSession {
  readonly record: SessionRecord;
  readonly rebuilt: RebuiltConversation;
  /** All turns so far; undefined when not all of the log was read. */
  readonly turns: number | undefined;
  /** Open calls that may have changed something: they began, and nobody saw their end. */
  readonly orphans: ReadonlyMap<CallId, Intent>;
  /** Events whose content has expired, and of which the session has not been told yet. */
  readonly gap?: { readonly from: number; readonly to: number };
}

export async function readStoredSession(store: SessionStore, session: SessionId): Promise<StoredSession> {
  const record = await store.get(session);
  if (record === undefined) throw new StoreError("not-found", `There is no session ${session}.`);
  const expired = record.expired_to;
  const summary = await lastSummary(store, session);
  const from = Math.max(expired, summary?.to ?? 0);
  const rebuilt = await rebuildConversation(store.events(session, { after: from }), {
    withinTurn: summary?.keeps === true && from === summary.to,
    ...(summary !== undefined && { before: waitingInputs(store, session, from) }),
  });
  const open = new Set(rebuilt.open.map(({ call }) => call));
  const orphans = new Map<CallId, Intent>();
  for (const intent of await store.orphans(session)) {
    if (open.has(intent.call)) orphans.set(intent.call, intent);
    else await concludeKnown(store, intent);
  }
  const told = expired === 0 ? 0 : await lastGap(store, session);
  const turns = from === 0 ? rebuilt.turns : undefined;
  return { record, rebuilt, turns, orphans, ...(expired > told && { gap: { from: told + 1, to: expired } }) };
}

/** The last event that is only in a summary, and whether events between that and the summary itself are kept. */
async function lastSummary(
  store: SessionStore,
  session: SessionId,
): Promise<{ readonly to: number; readonly keeps: boolean } | undefined> {
  const at = await store.last(session, "CompactionTriggered");
  if (at === undefined) return undefined;
  const event = await eventAt(store, session, at);
  if (event?.kind !== "CompactionTriggered" || event.payload.summary === undefined) return undefined;
  const from = Math.min(at, event.payload.kept_from ?? at);
  return { to: from - 1, keeps: from < at };
}

/** What was said in the last turn and may still wait, although a summary stands for the rest of it. */
async function* waitingInputs(store: SessionStore, session: SessionId, to: number): AsyncGenerator<Envelope> {
  const started = await store.last(session, "TurnStarted");
  if (started === undefined || started > to || ((await store.last(session, "TurnEnded")) ?? 0) > started) return;
  for await (const event of store.events(session, { after: started, limit: to - started })) {
    if (event.kind === "InputQueued" || event.kind === "InputSteered" || event.kind === "InputDropped") yield event;
  }
}

async function lastGap(store: SessionStore, session: SessionId): Promise<number> {
  const at = await store.last(session, "StreamGap");
  const event = at === undefined ? undefined : await eventAt(store, session, at);
  return event?.kind === "StreamGap" ? event.payload.to : 0;
}

async function eventAt(store: SessionStore, session: SessionId, id: number): Promise<Envelope | undefined> {
  for await (const event of store.events(session, { after: id - 1, limit: 1 })) return event;
  return undefined;
}

/** The result is in the log, only the ledger had not heard: stores that keep the two in different files may end in between. */
async function concludeKnown(store: SessionStore, { call, started_at }: Intent): Promise<void> {
  await store.conclude(call, { outcome: "ok", completed_at: started_at, note: "its result is in the log" });
}
