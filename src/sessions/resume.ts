/** Describes what a new run needs to resume a stored session. It reads from the last summary on, or from the first unexpired event. */
import { plainText } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { EXPIRED, type SessionMode } from "../protocol/events.js";
import type { CallId, SessionId } from "../protocol/ids.js";
import { type RebuiltConversation, rebuildConversation } from "./conversation.js";
import { eventAt, readConversation } from "./snapshot.js";
import { type Intent, type SessionRecord, type SessionStore, StoreError } from "./store.js";

type PermissionMode = Exclude<SessionMode, "plan">;

export interface StoredSession {
  readonly record: SessionRecord;
  readonly rebuilt: RebuiltConversation;
  /** The time when its last turn began. */
  readonly lastTurnAt?: string;
  /** All turns so far; undefined when not all of the log was read. */
  readonly turns: number | undefined;
  /** Events behind the last snapshot (snapshot.ts). */
  readonly behindSnapshot: number;
  /** Plan mode was on when it ended. */
  readonly isPlanning: boolean;
  /** Its last turn answered with a plan that no person has decided about. */
  readonly hasPlan: boolean;
  /** The mode that a person chose last in this session, beneath plan mode too; undefined if none was chosen. */
  readonly mode?: PermissionMode | undefined;
  /** The folders that a person added to its workspace. */
  readonly folders: readonly string[];
  /** Open calls that may have changed something: they started and have no recorded result. */
  readonly orphans: ReadonlyMap<CallId, Intent>;
  /** Expired events that the session has not reported yet. */
  readonly gap?: { readonly from: number; readonly to: number };
}

export async function readStoredSession(store: SessionStore, session: SessionId): Promise<StoredSession> {
  const record = await store.get(session);
  if (record === undefined) throw new StoreError("not-found", `There is no session ${session}.`);
  const expired = record.expired_to;
  const read = await readConversation(store, record);
  const { from, behind } = read;
  const rebuilt = await withExpiredTurn(store, record, read.rebuilt);
  const open = new Set(rebuilt.open.map(({ call }) => call));
  const orphans = new Map<CallId, Intent>();
  for (const intent of await store.orphans(session)) {
    // Only a result in the log says that a call has ended. Its content may be gone, its events stay.
    if (open.has(intent.call)) orphans.set(intent.call, intent);
    else await concludeKnown(store, intent);
  }
  const announced = expired === 0 ? 0 : await lastGap(store, session);
  const turns = from === 0 ? rebuilt.turns : undefined;
  const started = await store.last(session, "TurnStarted");
  const lastTurn = await eventAt(store, session, started);
  const lastTurnAt = lastTurn?.ts;
  return {
    record,
    rebuilt,
    ...(lastTurnAt !== undefined && { lastTurnAt }),
    turns,
    behindSnapshot: behind,
    ...(await lastMode(store, session)),
    folders: lastTurn === undefined ? [] : foldersOf(lastTurn, store),
    orphans,
    ...(expired > announced && { gap: { from: announced + 1, to: expired } }),
  };
}

/** A turn without end whose beginning has expired: its words are gone, and its calls still wait for their end. */
async function withExpiredTurn(
  store: SessionStore,
  { id, expired_to }: SessionRecord,
  rebuilt: RebuiltConversation,
): Promise<RebuiltConversation> {
  if (expired_to === 0 || rebuilt.unfinished !== undefined) return rebuilt;
  const started = await store.last(id, "TurnStarted");
  const ended = (await store.last(id, "TurnEnded")) ?? 0;
  if (started === undefined || started < ended || started > expired_to) return rebuilt;
  const { open, questions, unfinished, waiting } = await rebuildConversation(store.events(id, { after: started - 1 }));
  const left = waiting.filter(({ input }) => plainText(input) !== EXPIRED);
  return { ...rebuilt, open, questions, waiting: left, ...(unfinished !== undefined && { unfinished }) };
}

/** The last turn names the mode of the session at its end; it may have changed since. Who edits a session cannot allow everything. */
async function lastMode(
  store: SessionStore,
  session: SessionId,
): Promise<Pick<StoredSession, "isPlanning" | "hasPlan" | "mode">> {
  const ended = await store.last(session, "TurnEnded");
  let isPlanning = false;
  let hasPlan = false;
  let mode: PermissionMode | undefined;
  for await (const { kind, payload } of store.events(session, { after: (ended ?? 1) - 1 })) {
    if (kind === "TurnStarted" || kind === "TurnEnded") {
      isPlanning = payload.plan === true;
      mode = payload.mode;
      hasPlan = isPlanning && kind === "TurnEnded" && payload.outcome === "answered";
    } else if (kind === "ModeChanged") {
      isPlanning = payload.mode === "plan";
      if (payload.mode !== "plan") mode = payload.copied ? undefined : payload.mode;
    }
  }
  return { isPlanning, hasPlan: isPlanning && hasPlan, mode: store.isEditable ? undefined : mode };
}

/** Reads the added folders. Who edits a session cannot add one. */
function foldersOf({ kind, payload }: Envelope, { isEditable }: SessionStore): readonly string[] {
  return kind === "TurnStarted" && !isEditable ? (payload.folders ?? []) : [];
}

async function lastGap(store: SessionStore, session: SessionId): Promise<number> {
  const at = await store.last(session, "StreamGap");
  const event = await eventAt(store, session, at);
  return event?.kind === "StreamGap" ? event.payload.to : 0;
}

/** The result is in the log and not in the ledger: a store with two files may end between the two writes. */
async function concludeKnown(store: SessionStore, { call, started_at }: Intent): Promise<void> {
  await store.conclude(call, { outcome: "ok", completed_at: started_at, note: "its result is in the log" });
}
