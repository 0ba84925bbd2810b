/**
 * Describes what waits for one reader of a connection.
 *
 * 1. `send` neither blocks nor throws: what the connection does not take at once waits here, in order.
 * 2. At most `limitBytes` wait. A reader that falls further behind is cut, and nothing is sent to it any more. It can connect again and
 *    resume after the last event that it has.
 */
export interface OutboxOptions {
  readonly limitBytes: number;
  /** False if the connection is full; call `drained` when it takes more. */
  readonly write: (text: string) => boolean;
  /** Ends the connection. Called at most once. */
  readonly cut: (reason: string) => void;
}

export const TOO_SLOW = "too slow";
export const WRITE_FAILED = "write failed";

export class Outbox {
  readonly #options: OutboxOptions;
  #waiting: string[] = [];
  #bytes = 0;
  #state: "open" | "full" | "closed" = "open";

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get waitingBytes(): number {
    return this.#bytes;
  }

  get closed(): boolean {
    return this.#state === "closed";
  }

  send(text: string): void {
    if (this.#state === "open") this.#write(text);
    else if (this.#state === "full") this.#hold(text);
  }

  /** The connection takes more. */
  drained(): void {
    if (this.#state !== "full") return;
    this.#state = "open";
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    for (const text of waiting) this.send(text);
  }

  /** Forgets what waits; later texts are ignored. */
  close(): void {
    this.#state = "closed";
    this.#waiting = [];
    this.#bytes = 0;
  }

  #write(text: string): void {
    try {
      // A write may close the connection, and with it this outbox.
      if (!this.#options.write(text) && this.#state === "open") this.#state = "full";
    } catch {
      this.#cut(WRITE_FAILED);
    }
  }

  #hold(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#options.limitBytes) this.#cut(TOO_SLOW);
    else this.#waiting.push(text);
  }

  #cut(reason: string): void {
    if (this.#state === "closed") return;
    this.close();
    try {
      this.#options.cut(reason);
    } catch {
      // The connection is gone already.
    }
  }
}
