/**
 * Condenses long logs: the conversation of a session is cut into stretches of whole turns, and each stretch stores the messages of its
 * events (decision 0011). A resume reads the stretches and then the few events after them.
 *
 * 1. A stretch ends where nothing is open or waits, so its messages depend only on its own events, and the conversation is the
 *    messages of all stretches and of the rest, one after the other.
 * 2. A summary replaces everything before it, so it is in the first stretch or in none. A new summary makes all stretches obsolete.
 * 3. Stretches are made from the log, never from memory, which is not redacted.
 * 4. How events become messages is part of the stored format. When conversation.ts gives other messages for the same events, the names
 *    of the tags in sqlite/chain.ts and files/chain.ts change with it: older stretches no longer match and are rebuilt.
 */
import { originOf, withOrigin } from "../base/message-origin.js";
import type { Message } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { SessionId } from "../protocol/ids.js";
import { ConversationBuilder, type RebuildOptions, type RebuiltConversation } from "./conversation.js";
import { isSummary, type SessionRecord, type SessionStore, STRETCH_EVENTS, StoreError, type Stretch } from "./store.js";

/** After this many events, other work gets a turn. */
const READ_AT_ONCE = 500;
const FIRST_PAGE = 25;

export interface CondenseOptions {
  /** How many events a stretch has at least. */
  readonly stretchEvents?: number;
}

export interface ReadConversation {
  readonly rebuilt: RebuiltConversation;
  /** Nothing before it was read. */
  readonly from: number;
  /** Events that are in no stretch. */
  readonly uncondensed: number;
}

/** The conversation of the events; condenses the rest if the store supports it. */
export async function readConversation(
  store: SessionStore,
  record: SessionRecord,
  { stretchEvents = STRETCH_EVENTS }: CondenseOptions = {},
): Promise<ReadConversation> {
  const stretches = (await store.condensed?.read(record.id)) ?? [];
  const last = stretches.at(-1);
  const branchedAt = record.branch_of?.event;
  const start =
    last === undefined ? await startOf(store, record) : { from: last.to, messages: messagesOf(stretches), branchedAt };
  const condenser = await Condenser.begin(start, stretchEvents);
  for await (const event of store.events(record.id, { after: start.from })) {
    const stretch = condenser.take(event);
    if (stretch !== undefined) await keep(store, record.id, stretch);
  }
  const from = stretches[0]?.after ?? start.from;
  const rest = condenser.end();
  const turns = stretches.reduce((sum, stretch) => sum + stretch.turns, rest.turns);
  const lastEvent = condenser.last > from ? condenser.last : 0;
  return { rebuilt: { ...rest, turns, lastEvent }, from, uncondensed: condenser.rest };
}

/** Condenses the events since the last time; returns how many events are left over. */
export async function condenseSession(
  store: SessionStore,
  session: SessionId,
  { stretchEvents = STRETCH_EVENTS }: CondenseOptions = {},
): Promise<number> {
  const record = await store.get(session);
  if (store.condensed === undefined || record === undefined) return 0;
  const end = await store.condensed.end(session);
  const start = end === undefined ? await startOf(store, record) : { from: end, branchedAt: record.branch_of?.event };
  const condenser = await Condenser.begin(start, stretchEvents);
  for await (const event of store.events(session, { after: start.from })) {
    if (event.id % READ_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    const stretch = condenser.take(event);
    if (stretch !== undefined && !(await keep(store, session, stretch))) break;
  }
  return condenser.rest;
}

/** Where reading begins, and what has to be known there. */
export interface Start extends RebuildOptions {
  /** The event before the first. */
  readonly from: number;
  /** The last summary: before it no stretch may end. */
  readonly summary?: number;
}

/** After expired events, and after those that a summary replaces. */
export async function startOf(store: SessionStore, record: SessionRecord): Promise<Start> {
  const { id, expired_to, branch_of } = record;
  const branchedAt = branch_of?.event;
  const at = await store.last(id, "CompactionTriggered");
  const event = await eventAt(store, id, at);
  if (event === undefined || !isSummary(event)) return { from: expired_to, branchedAt };
  const first = Math.min(event.id, event.payload.kept_from ?? event.id);
  const from = Math.max(expired_to, first - 1);
  const withinTurn = first < event.id && from === first - 1;
  return { from, withinTurn, before: waitingInputs(store, record, from), summary: event.id, branchedAt };
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

function messagesOf(stretches: readonly Stretch[]): Message[] {
  return stretches.flatMap(({ messages, origins }) =>
    messages.map((message, i) => (origins[i] ? withOrigin(message, origins[i]) : message)),
  );
}

/** It does not matter if the copy cannot be stored, because the disk is full or another process was faster. */
async function keep(store: SessionStore, session: SessionId, stretch: Stretch): Promise<boolean> {
  try {
    await store.condensed?.add(session, stretch);
    return true;
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
  }
}

/** Rebuilds a conversation, and says when another stretch of it is complete. */
class Condenser {
  readonly #builder: ConversationBuilder;
  readonly #size: number;
  /** The summary that the first stretch has in it. */
  #summary: number | undefined;
  /** Where the last stretch ended: the event, and how many messages and turns there were. */
  #cut: { readonly event: number; readonly messages: number; readonly turns: number };
  #last: number;
  #isStopped = false;

  private constructor(builder: ConversationBuilder, { from, summary }: Start, size: number) {
    this.#builder = builder;
    this.#size = size;
    this.#summary = summary;
    this.#last = from;
    this.#cut = { event: from, messages: builder.messages.length, turns: 0 };
  }

  static async begin(start: Start, size: number): Promise<Condenser> {
    return new Condenser(await ConversationBuilder.begin(start), start, size);
  }

  get last(): number {
    return this.#last;
  }

  /** Events after the last stretch. */
  get rest(): number {
    return this.#last - this.#cut.event;
  }

  take(event: Envelope): Stretch | undefined {
    this.#builder.take(event);
    this.#last = event.id;
    // It came while we read; the next reader begins with it.
    if (isSummary(event) && event.id > (this.#summary ?? 0)) this.#isStopped = true;
    const mayEnd = event.id >= (this.#summary ?? 0) && this.#builder.isIdle && !this.#isStopped;
    return mayEnd && this.rest >= this.#size ? this.#cutHere() : undefined;
  }

  end(): RebuiltConversation {
    return this.#builder.end();
  }

  #cutHere(): Stretch {
    const { event: after, messages: known, turns: before } = this.#cut;
    const { messages: all, turns } = this.#builder;
    const messages = all.slice(known);
    const origins = messages.map((message) => originOf(message) ?? 0);
    const replacesEarlier = this.#summary !== undefined && { replacesEarlier: true as const };
    this.#summary = undefined;
    this.#cut = { event: this.#last, messages: all.length, turns };
    return { after, to: this.#last, turns: turns - before, messages, origins, ...replacesEarlier };
  }
}
