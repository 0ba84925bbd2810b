/**
 * Publishes the events of one session.
 *
 * 1. Ids count up from 1 (or from where the log ended) without a gap; subscribers see every event in that order.
 * 2. A subscriber that throws neither stops the others nor the turn.
 * 3. An event published by a subscriber is delivered after the one being delivered.
 */
import type { Clock } from "../base/clock.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventBody, EventKind, EventPayloads } from "../protocol/events.js";
import type { ClientId, SessionId } from "../protocol/ids.js";

export type Subscriber = (event: Envelope) => void;

export interface BusOptions {
  readonly session: SessionId;
  readonly clock: Clock;
  readonly originator: ClientId;
  readonly firstId?: number;
  /** The time of the event before the first one, if there is one. */
  readonly lastAt?: string | undefined;
  /** Published before the first other event: a session in which nothing happens gets no event. */
  readonly first?: EventBody | undefined;
  readonly onSubscriberError?: (error: unknown) => void;
}

export class Bus {
  readonly session: SessionId;
  /** The client whose input is being worked on. */
  originator: ClientId;
  readonly #clock: Clock;
  readonly #subscribers = new Set<Subscriber>();
  readonly #onSubscriberError: (error: unknown) => void;
  readonly #queue: Envelope[] = [];
  #nextId: number;
  #lastAt: string | undefined;
  #first: EventBody | undefined;
  #delivering = false;

  constructor(options: BusOptions) {
    this.session = options.session;
    this.originator = options.originator;
    this.#clock = options.clock;
    this.#nextId = options.firstId ?? 1;
    this.#first = options.first;
    this.#lastAt = options.lastAt;
    this.#onSubscriberError = options.onSubscriberError ?? (() => {});
  }

  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** The id that the next event will have. */
  get nextId(): number {
    return this.#nextId;
  }

  /** Publishes it with the next event, before that one. A later one of the same kind replaces it. */
  publishBeforeNext(event: EventBody): void {
    this.#first = event;
  }

  /** The time of the last event, if it is known. */
  get lastAt(): string | undefined {
    return this.#lastAt;
  }

  /** The time of an event that is published now. */
  now(): string {
    return new Date(this.#clock.wall()).toISOString();
  }

  /** Returns the event's id. */
  publish<K extends EventKind>(kind: K, payload: EventPayloads[K]): number {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) this.publish(first.kind, first.payload);
    // Everything that may throw comes before the id is assigned: an id without an event would leave a gap, which no log accepts.
    const ts = this.now();
    const id = this.#nextId++;
    this.#lastAt = ts;
    const envelope = {
      id,
      kind,
      session: this.session,
      originator: this.originator,
      ts,
      payload,
    } as Envelope;
    this.#queue.push(envelope);
    if (this.#delivering) return id;
    this.#delivering = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) this.#deliver(next);
    this.#delivering = false;
    return id;
  }

  #deliver(envelope: Envelope): void {
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(envelope);
      } catch (error) {
        this.#onSubscriberError(error);
      }
    }
  }
}
