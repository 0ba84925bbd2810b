/**
 * Takes snapshots of conversations: the messages of a log up to an event (decision 0011). A resume reads the last snapshot and then the
 * few events behind it.
 *
 * 1. A snapshot ends where nothing is open or waits, so later messages depend only on later events.
 * 2. A log has one snapshot, the newest. A summary behind it makes it useless, because a summary replaces everything before it.
 * 3. It is made from the log, never from memory, which is not redacted.
 * 4. How events become messages is part of the stored format. When conversation.ts gives other messages for the same events,
 *    `SNAPSHOT_FORM` changes with it: older snapshots no longer fit, and the log is read.
 */
import { originOf, withOrigin } from "../base/message-origin.js";
import type { Message } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { SessionId } from "../protocol/ids.js";
import { ConversationBuilder, type RebuildOptions, type RebuiltConversation } from "./conversation.js";
import { isSnapshotDue, isSummary, type SessionRecord, type SessionStore, type Snapshot, StoreError } from "./store.js";

/** After this many events, other work gets a turn. */
const READ_AT_ONCE = 500;
const FIRST_PAGE = 25;

export interface SnapshotOptions {
  /** Says how many events come between two snapshots. */
  readonly every?: number;
}

export interface ReadConversation {
  readonly rebuilt: RebuiltConversation;
  /** Nothing before it was read. */
  readonly from: number;
  /** Events behind the last snapshot. */
  readonly behind: number;
}

/** Reads the conversation of a session; takes a snapshot if one is due and the store keeps it. */
export async function readConversation(
  store: SessionStore,
  record: SessionRecord,
  { every }: SnapshotOptions = {},
): Promise<ReadConversation> {
  const { id, branch_of } = record;
  const found = await store.snapshot?.(id);
  const summary = await lastSummary(store, id);
  const known = found !== undefined && (summary?.id ?? 0) <= found.to ? found : undefined;
  const start =
    known === undefined
      ? await startAt(store, record, summary)
      : { from: known.to, messages: messagesOf(known), branchedAt: branch_of?.event };
  const builder = await ConversationBuilder.begin(start);
  const from = known?.from ?? start.from;
  const before = known?.turns ?? 0;
  let end = start.from;
  let to = known?.to ?? from;
  let taken: Snapshot | undefined;
  for await (const event of store.events(id, { after: start.from })) {
    if (event.id % READ_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    builder.take(event);
    end = event.id;
    if (!isSnapshotDue(end - to, end, every) || !builder.isIdle) continue;
    const messages = [...builder.messages];
    const origins = messages.map((message) => originOf(message) ?? 0);
    taken = { from, to: end, turns: before + builder.turns, messages, origins };
    to = end;
  }
  if (taken !== undefined && !(await keep(store, id, taken))) to = known?.to ?? from;
  const rest = builder.end();
  const rebuilt = { ...rest, turns: before + rest.turns, lastEvent: end > from ? end : 0 };
  return { rebuilt, from, behind: end - to };
}

/** Takes a snapshot of the events since the last one, if one is due; returns how many events are behind it. */
export async function takeSnapshot(
  store: SessionStore,
  session: SessionId,
  options: SnapshotOptions = {},
): Promise<number> {
  const record = store.keepSnapshot === undefined ? undefined : await store.get(session);
  return record === undefined ? 0 : (await readConversation(store, record, options)).behind;
}

/** Describes where reading begins, and what has to be known there. */
export interface Start extends RebuildOptions {
  /** The event before the first. */
  readonly from: number;
}

/** Finds the start without a snapshot: behind expired events, and behind those that a summary replaces. */
export async function startOf(store: SessionStore, record: SessionRecord): Promise<Start> {
  return startAt(store, record, await lastSummary(store, record.id));
}

type Summary = NonNullable<Awaited<ReturnType<typeof lastSummary>>>;

async function lastSummary(store: SessionStore, session: SessionId) {
  const event = await eventAt(store, session, await store.last(session, "CompactionTriggered"));
  return event !== undefined && isSummary(event) ? event : undefined;
}

async function startAt(store: SessionStore, record: SessionRecord, event: Summary | undefined): Promise<Start> {
  const { expired_to, branch_of } = record;
  const branchedAt = branch_of?.event;
  if (event === undefined) return { from: expired_to, branchedAt };
  const first = Math.min(event.id, event.payload.kept_from ?? event.id);
  const from = Math.max(expired_to, first - 1);
  const withinTurn = first < event.id && from === first - 1;
  return { from, withinTurn, before: waitingInputs(store, record, from), branchedAt };
}

/**
 * The events up to `to` that show what still waits, although a summary replaces the rest. Nothing waits where a turn began that took no
 * waiting input: a program that has some takes them first. So it is enough to read back to there.
 */
async function* waitingInputs(store: SessionStore, record: SessionRecord, to: number): AsyncGenerator<Envelope> {
  const { id: session, expired_to } = record;
  let kept: Envelope[] = [];
  // Usually the turn before began without one.
  for (let end = to, size = FIRST_PAGE; end > expired_to; end -= size, size = Math.min(2 * size, READ_AT_ONCE)) {
    const after = Math.max(expired_to, end - size);
    const page: Envelope[] = [];
    for await (const event of store.events(session, { after, limit: end - after })) {
      if (event.kind === "TurnStarted" && !event.payload.queued) page.length = 0;
      if (WAITING_KINDS.has(event.kind)) page.push(event);
    }
    kept = [...page, ...kept];
    if (page.some((event) => event.kind === "TurnStarted" && !event.payload.queued)) break;
  }
  yield* kept;
}

const WAITING_KINDS: ReadonlySet<Envelope["kind"]> = new Set([
  "TurnStarted",
  "TurnEnded",
  "InputQueued",
  "InputSteered",
  "InputDropped",
]);

/** Undefined without an id, and for 0, which is where an empty log ends. */
export async function eventAt(
  store: SessionStore,
  session: SessionId,
  id: number | undefined,
): Promise<Envelope | undefined> {
  if (id === undefined || id === 0) return undefined;
  for await (const event of store.events(session, { after: id - 1, limit: 1 })) return event;
  return undefined;
}

function messagesOf({ messages, origins }: Snapshot): Message[] {
  return messages.map((message, i) => (origins[i] ? withOrigin(message, origins[i]) : message));
}

/** It does not matter if the copy cannot be stored, because the disk is full or another process was faster. */
async function keep(store: SessionStore, session: SessionId, snapshot: Snapshot): Promise<boolean> {
  try {
    await store.keepSnapshot?.(session, snapshot);
    return store.keepSnapshot !== undefined;
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
  }
}
