/**
 * The last messages of an HTTP session, so that a client whose stream broke gets the answer to a long call after all: it opens the stream again
 * with `Last-Event-ID`.
 *
 * 1. Memory is bounded: the oldest messages are forgotten. A client that was away too long gets the newer ones.
 */
import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

const MOST_EVENTS = 1000;
const MOST_CHARACTERS = 4 * 1024 * 1024;

interface Kept {
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly size: number;
}

export class EventMemory implements EventStore {
  /** By their numbers, oldest first. */
  readonly #events = new Map<number, Kept>();
  #last = 0;
  #size = 0;

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = ++this.#last;
    const size = JSON.stringify(message).length;
    this.#events.set(id, { stream, message, size });
    this.#size += size;
    for (const [oldest, { size: freed }] of this.#events) {
      if (oldest === id || (this.#events.size <= MOST_EVENTS && this.#size <= MOST_CHARACTERS)) break;
      this.#events.delete(oldest);
      this.#size -= freed;
    }
    return `${id}-${stream}`;
  }

  async getStreamIdForEventId(event: string): Promise<string | undefined> {
    return streamOf(event);
  }

  async replayEventsAfter(
    event: string,
    { send }: { readonly send: (event: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const stream = streamOf(event);
    const after = Number.parseInt(event, 10);
    for (const [id, kept] of [...this.#events])
      if (id > after && kept.stream === stream) await send(`${id}-${stream}`, kept.message);
    return stream ?? "";
  }
}

/** It stays known when the event itself is forgotten. */
function streamOf(event: string): string | undefined {
  return /^\d{1,15}-(.+)$/.exec(event)?.[1];
}
