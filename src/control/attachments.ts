/**
 * The readers of one run.
 *
 * 1. A reader that attaches after an event gets every later event exactly once and in order: first from the store, then live.
 * 2. It reads the store until the events that are kept in memory follow; then it continues with those and the live ones. So nothing waits for
 *    a reader that is slow to catch up, and the newest events need not be stored yet.
 * 3. After a crash the log may continue with other events than a reader has seen last (replaced-ids.ts). A reader that resumes after such an id
 *    and does not say when its event happened gets a StreamGap (`lost`) and the log from before the crash.
 * 4. Events that cannot be delivered any more are reported with a StreamGap; they are never left out silently.
 * 5. A reader that attaches without an event first gets the questions that are open.
 */
import type { Envelope } from "../protocol/envelope.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { EventPayloads, SessionEndReason } from "../protocol/events.js";
import type { CallId, ClientId } from "../protocol/ids.js";
import type { AttachedClient } from "./attached-client.js";
import { MOST_AHEAD, rangesWith } from "./replaced-ids.js";
import type { Run } from "./run.js";

/** Events that are kept besides those that are not stored yet: the log holds back text until it knows that no secret is in it. */
const KEPT_EVENTS = 256;

/** Stored events after an id; undefined if sessions are not stored. */
export type History = (run: Run, after: number) => AsyncIterable<Envelope> | undefined;

export interface StoredHistory {
  readonly events: History;
  /** The last event of the session whose content has expired; 0 if there is none. */
  readonly expiredTo?: (run: Run) => Promise<number>;
}

/** The last event that a reader has. */
export interface SeenEvent {
  readonly id: number;
  /** Tells it from another one with the same id. */
  readonly ts?: string | undefined;
}

const NO_HISTORY: StoredHistory = { events: () => undefined };

interface Reader {
  readonly client: AttachedClient;
  /** The last event that it has. */
  reached: number;
  stopLive: () => void;
}

export class Attachments {
  readonly #run: Run;
  readonly #history: StoredHistory;
  readonly #readers = new Map<unknown, Reader>();
  readonly #recent: Envelope[] = [];
  readonly #questions = new Map<CallId, Envelope>();
  /** The readers that still get stored events, by their keys. */
  readonly #behind = new Set<unknown>();
  #isEnded = false;
  /** The last event that subscribers have got; later ones may be published already. */
  #last = 0;
  /** Called when the first reader comes and when the last one leaves. */
  onChange: () => void = () => {};
  /** Called with each question. */
  onQuestion: (question: EventPayloads["PermissionRequested"]) => void = () => {};

  constructor(run: Run, history: StoredHistory = NO_HISTORY) {
    this.#run = run;
    this.#history = history;
  }

  /** Starts to keep published events, besides those of the opening. */
  follow(): void {
    this.#last = this.#run.bus.nextId - 1;
    this.#recent.push(...this.#run.opening);
    this.#run.bus.subscribe((event) => {
      this.#last = event.id;
      this.#recent.push(event);
      while (this.#recent.length > KEPT_EVENTS && (this.#recent[0]?.id ?? 0) <= this.#run.savedTo) this.#recent.shift();
      if (event.kind === "PermissionRequested") {
        this.#questions.set(event.payload.call, event);
        this.onQuestion(event.payload);
      }
      if (event.kind === "PermissionResolved") this.#questions.delete(event.payload.call);
      if (event.kind === "SessionEnded") this.#isEnded = true;
    });
  }

  /** The events that are not stored yet, and some before them. */
  get newest(): readonly Envelope[] {
    return this.#recent;
  }

  /** All readers said that no person is there. */
  get isUnattended(): boolean {
    const { readers } = this;
    return readers.length > 0 && readers.every((reader) => reader.isUnattended === true);
  }

  /** The client can answer a question. */
  get personPresent(): boolean {
    return this.readers.some(({ canAnswer, identity }) => canAnswer && identity === "human");
  }

  /** The readers that have all events so far: one that still reads stored events is not among them. */
  get liveReaders(): readonly AttachedClient[] {
    return this.readers.filter((client) => !this.#behind.has(keyOf(client)));
  }

  get readers(): readonly AttachedClient[] {
    return [...this.#readers.values()].map(({ client }) => client);
  }

  has(client: ClientId): boolean {
    return this.readers.some(({ id }) => id === client);
  }

  attach(client: AttachedClient): void {
    if (this.#readers.has(keyOf(client))) return;
    // A client may attach while an event is delivered that holds an open question.
    const reader: Reader = { client, reached: 0, stopLive: () => {} };
    for (const question of this.#questions.values()) deliverNext(reader, question);
    this.#add(reader);
    this.#goLive(reader);
  }

  /** By its key, or by the id of a client with one reader. */
  detach(key: unknown): void {
    const reader = this.#readers.get(key);
    if (reader === undefined) return;
    reader.stopLive();
    this.#readers.delete(key);
    this.#behind.delete(key);
    if (this.#readers.size === 0) this.onChange();
  }

  detachAll(client: ClientId): void {
    for (const [key, reader] of this.#readers) if (reader.client.id === client) this.detach(key);
  }

  /** The run has ended. A run without a turn has no stored event that says so: its readers get one here. */
  end(reason: SessionEndReason): void {
    const readers = this.readers.filter(({ isRemote }) => isRemote);
    for (const key of [...this.#readers.keys()]) this.detach(key);
    if (this.#isEnded) return;
    for (const client of readers) client.deliver(this.#unsaved(this.#last, "SessionEnded", { reason }));
  }

  /** Attaches after an event; returns the problem, if any. */
  async attachAfter(client: AttachedClient, seen: SeenEvent): Promise<Failure | undefined> {
    const key = keyOf(client);
    if (this.#readers.has(key)) return invalid("This client is already attached. Detach it first.");
    const reader: Reader = { client, reached: 0, stopLive: () => {} };
    this.#behind.add(key);
    this.#add(reader);
    return this.#reading(reader, async () => {
      reader.reached = await this.#keptOf(seen);
      if (!this.#isAttached(reader)) return;
      if (seen.id > reader.reached)
        client.deliver(this.#gap({ from: reader.reached + 1, to: seen.id, reason: "lost" }));
      await this.#bring(reader);
    });
  }

  /** Delivers what the reader does not have yet, until it can follow live. */
  async #bring(reader: Reader): Promise<void> {
    for (;;) {
      while (!this.#holdsAllAfter(reader.reached) && this.#isAttached(reader)) await this.#catchUp(reader);
      if (!this.#isAttached(reader)) return;
      for (const event of [...this.#recent]) if (!this.#isTooFar(reader, event.id)) deliverNext(reader, event);
      // Nothing can be published between these two.
      if (reader.reached >= this.#last) break;
      await this.#logMoves(reader);
    }
    this.#behind.delete(keyOf(reader.client));
    this.#goLive(reader);
  }

  #goLive(reader: Reader): void {
    reader.stopLive = this.#run.bus.subscribe((event) => {
      if (this.#isTooFar(reader, event.id)) this.#waitForLog(reader, event.id);
      else deliverNext(reader, event);
    });
  }

  #isTooFar({ client }: Reader, id: number): boolean {
    return client.isRemote === true && id > this.#run.savedTo + MOST_AHEAD;
  }

  /** The log does not keep up: the reader continues with this event when the log has come closer. */
  #waitForLog(reader: Reader, next: number): void {
    reader.stopLive();
    reader.reached = Math.max(reader.reached, next - 1);
    this.#behind.add(keyOf(reader.client));
    void this.#reading(reader, () => this.#bring(reader));
  }

  /** Resolves when the reader may have its next event. Text that the log holds back is written after a later event. */
  async #logMoves(reader: Reader): Promise<void> {
    while (this.#isTooFar(reader, reader.reached + 1)) {
      const last = this.#last;
      const problem = await this.#run.saved();
      // A reader must learn that its turn fails because nothing can be saved.
      if (problem !== undefined) return;
      if (!this.#isTooFar(reader, reader.reached + 1) || this.#last > last) continue;
      await new Promise<void>((resolve) => {
        const stop = this.#run.bus.subscribe(() => {
          stop();
          resolve();
        });
      });
    }
  }

  /** A reader whose events cannot be read does not stay. */
  async #reading(reader: Reader, action: () => Promise<void>): Promise<Failure | undefined> {
    try {
      await action();
      return undefined;
    } catch (error) {
      if (this.#isAttached(reader)) this.detach(keyOf(reader.client));
      const detail = error instanceof Error ? error.message : String(error);
      return invalid(`Oxbow cannot read the stored events of this session: ${detail}`);
    }
  }

  #isAttached(reader: Reader): boolean {
    return this.#readers.get(keyOf(reader.client)) === reader;
  }

  /** The last event of this log that a reader has. */
  async #keptOf({ id, ts }: SeenEvent): Promise<number> {
    const ranges = rangesWith(this.#run.replaced, id);
    const known = ts === undefined || id > this.#last ? undefined : await this.#timeOf(id);
    if (known !== undefined && known === ts) return id;
    // Its event lies between the last one that was saved before the kill, and the first one after it.
    for (const { from } of ts === undefined ? [] : ranges) {
      const [saved = "", next] = [await this.#timeOf(from - 1), await this.#timeOf(from)];
      if (ts !== undefined && ts >= saved && (next === undefined || ts <= next)) return from - 1;
    }
    if (ranges[0] !== undefined) return ranges[0].from - 1;
    // Another event has its id, and nothing says since when: a power cut may undo more than a kill.
    return known === undefined ? Math.min(id, this.#last) : 0;
  }

  async #timeOf(id: number): Promise<string | undefined> {
    const recent = this.#recent.find((event) => event.id === id);
    if (recent !== undefined || id === 0) return recent?.ts;
    for await (const event of this.#history.events(this.#run, id - 1) ?? []) {
      return event.id === id ? event.ts : undefined;
    }
    return undefined;
  }

  /** The events after this one are in memory. */
  #holdsAllAfter(id: number): boolean {
    return id >= this.#last || (this.#recent[0]?.id ?? this.#last + 1) <= id + 1;
  }

  /** Delivers the stored events as fast as the reader takes them; reports those that cannot be delivered. */
  async #catchUp(reader: Reader): Promise<void> {
    const run = this.#run;
    const history = this.#history;
    await run.saved();
    const expired = (await history.expiredTo?.(run)) ?? 0;
    if (expired > reader.reached) this.#skipTo(expired, reader, "ttl");
    const { ready } = reader.client;
    let read = 0;
    for await (const event of history.events(run, reader.reached) ?? []) {
      if (!this.#isAttached(reader)) return;
      if (event.id > reader.reached + 1) this.#skipTo(event.id - 1, reader, "not-stored");
      deliverNext(reader, event);
      read += 1;
      if (ready !== undefined && !(await ready())) this.detach(keyOf(reader.client));
    }
    if (read === 0 && !this.#holdsAllAfter(reader.reached)) {
      this.#skipTo((this.#recent[0]?.id ?? this.#last + 1) - 1, reader, "not-stored");
    }
  }

  #skipTo(id: number, reader: Reader, reason: string): void {
    if (id <= reader.reached || !this.#isAttached(reader)) return;
    reader.client.deliver(this.#gap({ from: reader.reached + 1, to: id, reason }));
    reader.reached = id;
  }

  #add(reader: Reader): void {
    this.#readers.set(keyOf(reader.client), reader);
    if (this.#readers.size === 1) this.onChange();
  }

  #gap(payload: { readonly from: number; readonly to: number; readonly reason: string }): Envelope {
    return this.#unsaved(payload.from - 1, "StreamGap", payload);
  }

  /** An event for one connection, which is not in the log. */
  #unsaved(id: number, kind: "StreamGap" | "SessionEnded", payload: object): Envelope {
    const { session, originator } = this.#run.bus;
    return { id, kind, session, originator, ts: this.#run.bus.now(), payload } as Envelope;
  }
}

/** Each event once, in order. */
function deliverNext(reader: Reader, event: Envelope): void {
  if (event.id <= reader.reached) return;
  reader.reached = event.id;
  reader.client.deliver(event);
}

function keyOf(client: AttachedClient): unknown {
  return client.stream ?? client.id;
}

function invalid(detail: string): Failure {
  return failure("InvalidInput", { detail });
}
