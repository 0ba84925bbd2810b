/**
 * The clients that follow one run.
 *
 * 1. A client that attaches after an event gets every later event exactly once and in order: first from the store, then live.
 * 2. Live events wait while stored ones are read. The newest events may not be stored yet, so the last ones are also kept here.
 */
import type { Envelope } from "../protocol/envelope.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { ClientId } from "../protocol/ids.js";
import type { AttachedClient } from "./host.js";
import type { Run } from "./run.js";

/** The log delays one delta and the events between two attempts; everything else is stored when `saved` resolves. */
const KEPT_EVENTS = 256;

/** Stored events after an id; undefined if sessions are not stored. */
export type History = (run: Run, after: number) => AsyncIterable<Envelope> | undefined;

interface Attachment {
  readonly client: AttachedClient;
  readonly detach: () => void;
}

export class Attachments {
  readonly #run: Run;
  readonly #clients = new Map<ClientId, Attachment>();
  readonly #recent: Envelope[] = [];

  constructor(run: Run) {
    this.#run = run;
  }

  /** Starts to keep published events. */
  follow(): void {
    this.#run.bus.subscribe((event) => {
      this.#recent.push(event);
      if (this.#recent.length > KEPT_EVENTS) this.#recent.shift();
    });
  }

  /** The client can answer a question. */
  get personPresent(): boolean {
    return [...this.#clients.values()].some(({ client }) => client.canAnswer && client.identity === "human");
  }

  attach(client: AttachedClient): void {
    if (this.#clients.has(client.id)) return;
    this.#clients.set(client.id, { client, detach: this.#run.bus.subscribe(client.deliver) });
  }

  detach(client: ClientId): void {
    this.#clients.get(client)?.detach();
    this.#clients.delete(client);
  }

  /** Attaches after an event; returns the problem, if any. */
  async attachAfter(client: AttachedClient, after: number, history: History): Promise<Failure | undefined> {
    const run = this.#run;
    const last = run.bus.nextId - 1;
    if (this.#clients.has(client.id)) return invalid("This client is already attached. Detach it first.");
    if (after > last) return invalid(`"after" is ${after}, and the last event of the session is ${last}.`);
    const live: Envelope[] = [];
    let isLive = false;
    const unsubscribe = run.bus.subscribe((event) => {
      if (isLive) client.deliver(event);
      else live.push(event);
    });
    const attachment: Attachment = { client, detach: unsubscribe };
    this.#clients.set(client.id, attachment);
    const isAttached = () => this.#clients.get(client.id) === attachment;
    try {
      const reached = await this.#deliverStored({ client, after, last, history, isAttached });
      if (!isAttached()) return undefined;
      if (reached < last) {
        this.detach(client.id);
        return invalid(`Events ${reached + 1} to ${last} of this session are not stored. Attach without "after".`);
      }
      // Events that subscribers publish meanwhile come after these.
      for (let next = live.shift(); next !== undefined; next = live.shift()) client.deliver(next);
      isLive = true;
      return undefined;
    } catch (error) {
      if (isAttached()) this.detach(client.id);
      const detail = error instanceof Error ? error.message : String(error);
      return invalid(`The stored events of this session cannot be read: ${detail}`);
    }
  }

  /** Returns the last delivered event. */
  async #deliverStored(work: {
    readonly client: AttachedClient;
    readonly after: number;
    readonly last: number;
    readonly history: History;
    readonly isAttached: () => boolean;
  }): Promise<number> {
    const { client, after, last, history, isAttached } = work;
    const run = this.#run;
    // Copied now: newer events replace them while the store is read.
    const recent = [...this.#recent];
    let reached = after;
    const deliver = (event: Envelope) => {
      if (event.id !== reached + 1 || event.id > last || !isAttached()) return;
      reached = event.id;
      client.deliver(event);
    };
    if (after < last && (recent[0]?.id ?? last + 1) > after + 1) {
      await run.saved();
      for await (const event of history(run, after) ?? []) {
        deliver(event);
        if (event.id >= last || !isAttached()) break;
      }
    }
    for (const event of recent) deliver(event);
    return reached;
  }
}

function invalid(detail: string): Failure {
  return failure("InvalidInput", { detail });
}
