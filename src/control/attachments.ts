/**
 * The readers of one run.
 *
 * 1. A reader that attaches after an event gets every later event exactly once and in order: first from the store, then live.
 * 2. Live events wait while stored ones are read. The newest events may not be stored yet, so the last ones are also kept here.
 * 3. Events that cannot be delivered any more are reported with a StreamGap; they are never left out silently.
 * 4. A reader that attaches without an event first gets the questions that are open.
 */
import type { Envelope } from "../protocol/envelope.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { SessionEndReason } from "../protocol/events.js";
import type { CallId, ClientId } from "../protocol/ids.js";
import type { AttachedClient } from "./attached-client.js";
import type { Run } from "./run.js";

/** The log delays one delta and the events between two attempts; everything else is stored when `saved` resolves. */
const KEPT_EVENTS = 256;

/** Stored events after an id; undefined if sessions are not stored. */
export type History = (run: Run, after: number) => AsyncIterable<Envelope> | undefined;

export interface StoredHistory {
  readonly events: History;
  /** The last event of the session whose content has expired; 0 if there is none. */
  readonly expiredTo?: (run: Run) => Promise<number>;
}

interface Attachment {
  readonly client: AttachedClient;
  readonly detach: () => void;
}

export class Attachments {
  readonly #run: Run;
  readonly #readers = new Map<unknown, Attachment>();
  readonly #recent: Envelope[] = [];
  readonly #questions = new Map<CallId, Envelope>();
  #isEnded = false;
  /** The last event that subscribers have got; later ones may be published already. */
  #last = 0;
  /** Called when the first reader comes and when the last one leaves. */
  onChange: () => void = () => {};

  constructor(run: Run) {
    this.#run = run;
  }

  /** Starts to keep published events. */
  follow(): void {
    this.#last = this.#run.bus.nextId - 1;
    this.#run.bus.subscribe((event) => {
      this.#last = event.id;
      this.#recent.push(event);
      if (this.#recent.length > KEPT_EVENTS) this.#recent.shift();
      if (event.kind === "PermissionRequested") this.#questions.set(event.payload.call, event);
      if (event.kind === "PermissionResolved") this.#questions.delete(event.payload.call);
      if (event.kind === "SessionEnded") this.#isEnded = true;
    });
  }

  /** The client can answer a question. */
  get personPresent(): boolean {
    return this.readers.some(({ canAnswer, identity }) => canAnswer && identity === "human");
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
    let reached = 0;
    const deliver = (event: Envelope) => {
      if (event.id <= reached) return;
      reached = event.id;
      client.deliver(event);
    };
    for (const question of this.#questions.values()) deliver(question);
    this.#add({ client, detach: this.#run.bus.subscribe(deliver) });
  }

  /** By its key, or by the id of a client with one reader. */
  detach(key: unknown): void {
    const attachment = this.#readers.get(key);
    if (attachment === undefined) return;
    attachment.detach();
    this.#readers.delete(key);
    if (this.#readers.size === 0) this.onChange();
  }

  detachAll(client: ClientId): void {
    for (const [key, attachment] of this.#readers) if (attachment.client.id === client) this.detach(key);
  }

  /** The run has ended. A run without a turn has no stored event that says so: its readers get one here. */
  end(reason: SessionEndReason): void {
    const readers = this.readers.filter(({ isRemote }) => isRemote);
    for (const key of [...this.#readers.keys()]) this.detach(key);
    if (this.#isEnded) return;
    for (const client of readers) client.deliver(this.#unsaved(this.#last, "SessionEnded", { reason }));
  }

  /** Attaches after an event; returns the problem, if any. */
  async attachAfter(client: AttachedClient, after: number, history: StoredHistory): Promise<Failure | undefined> {
    const run = this.#run;
    const key = keyOf(client);
    if (this.#readers.has(key)) return invalid("This client is already attached. Detach it first.");
    const last = this.#last;
    const live: Envelope[] = [];
    let isLive = false;
    let reached = Math.min(after, last);
    const deliver = (event: Envelope) => {
      if (event.id <= reached) return;
      reached = event.id;
      client.deliver(event);
    };
    const detach = run.bus.subscribe((event) => void (isLive ? deliver(event) : live.push(event)));
    const attachment: Attachment = { client, detach };
    this.#add(attachment);
    const isAttached = () => this.#readers.get(key) === attachment;
    try {
      // Events that the engine did not save before it was stopped: this log continues without them.
      if (after > last) client.deliver(this.#gap({ from: last + 1, to: after, reason: "lost" }));
      for await (const event of this.#stored({ after: reached, last, history })) {
        if (!isAttached()) return undefined;
        if (event.kind === "StreamGap" && event.id <= reached) client.deliver(event);
        else deliver(event);
        if (client.ready !== undefined && !(await client.ready())) this.detach(key);
      }
      if (!isAttached()) return undefined;
      // Events that subscribers publish meanwhile come after these.
      for (let next = live.shift(); next !== undefined; next = live.shift()) deliver(next);
      isLive = true;
      return undefined;
    } catch (error) {
      if (isAttached()) this.detach(key);
      const detail = error instanceof Error ? error.message : String(error);
      return invalid(`The stored events of this session cannot be read: ${detail}`);
    }
  }

  /** The events after one, up to `last`, with a StreamGap in front of each part that is missing. */
  async *#stored(work: {
    readonly after: number;
    readonly last: number;
    readonly history: StoredHistory;
  }): AsyncIterable<Envelope> {
    const { after, last, history } = work;
    const run = this.#run;
    // Copied now: newer events replace them while the store is read.
    const recent = [...this.#recent];
    const first = recent[0]?.id ?? last + 1;
    let reached = after;
    if (after < last && first > after + 1) {
      await run.saved();
      const expired = Math.min((await history.expiredTo?.(run)) ?? 0, last);
      if (expired > reached) {
        yield this.#gap({ from: reached + 1, to: expired, reason: "ttl" });
        reached = expired;
      }
      for await (const event of history.events(run, reached) ?? []) {
        if (event.id > last) break;
        if (event.id > reached + 1) yield this.#gap({ from: reached + 1, to: event.id - 1, reason: "not-stored" });
        reached = event.id;
        yield event;
      }
    }
    for (const event of recent) {
      if (event.id <= reached || event.id > last) continue;
      if (event.id > reached + 1) yield this.#gap({ from: reached + 1, to: event.id - 1, reason: "not-stored" });
      reached = event.id;
      yield event;
    }
    if (reached < last) yield this.#gap({ from: reached + 1, to: last, reason: "not-stored" });
  }

  #add(attachment: Attachment): void {
    this.#readers.set(keyOf(attachment.client), attachment);
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

function keyOf(client: AttachedClient): unknown {
  return client.stream ?? client.id;
}

function invalid(detail: string): Failure {
  return failure("InvalidInput", { detail });
}
