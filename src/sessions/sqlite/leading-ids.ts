/** The ids of the last turns and calls of a session, and the events that spell them out (payload.ts, 3). */
import { leadingIdBytes, leadingIdOf } from "./payload.js";

const MOST = 64;

export class LeadingIds {
  readonly #events = new Map<string, number>();
  readonly #bytes = new Map<number, Buffer>();

  /** `json` is the payload of the event; without an id at its beginning there is nothing to know. */
  add(event: number, json: Buffer): void {
    const name = leadingIdOf(json);
    if (name === undefined) return;
    this.#events.set(name, event);
    // A copy: the payload is part of a larger piece of memory.
    this.#bytes.set(event, Buffer.from(leadingIdBytes(json)));
    if (this.#events.size > MOST) forgetFirst(this.#events);
    if (this.#bytes.size > MOST) forgetFirst(this.#bytes);
  }

  find(name: string): number | undefined {
    return this.#events.get(name);
  }

  at(event: number): Buffer | undefined {
    return this.#bytes.get(event);
  }
}

function forgetFirst<K>(map: Map<K, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
