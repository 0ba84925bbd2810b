/** Events that wait for a reader of `for await`. */
import type { Envelope } from "../../protocol/envelope.js";

interface Reader {
  readonly resolve: (result: IteratorResult<Envelope>) => void;
  readonly reject: (problem: Error) => void;
}

const END: IteratorResult<Envelope> = { done: true, value: undefined };

export class EventQueue implements AsyncIterableIterator<Envelope> {
  readonly #events: Envelope[] = [];
  readonly #readers: Reader[] = [];
  readonly #onEnd: () => void;
  #ended = false;
  #problem: Error | undefined;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  push(event: Envelope): void {
    if (this.#ended) return;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#events.push(event);
    else reader.resolve({ done: false, value: event });
  }

  /** Events that wait are still read; then the reader gets the problem. */
  end(problem?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
    const [first, ...others] = this.#readers.splice(0);
    if (problem === undefined) first?.resolve(END);
    else if (first !== undefined) first.reject(problem);
    else this.#problem = problem;
    for (const reader of others) reader.resolve(END);
  }

  async next(): Promise<IteratorResult<Envelope>> {
    const event = this.#events.shift();
    if (event !== undefined) return { done: false, value: event };
    const problem = this.#problem;
    this.#problem = undefined;
    if (problem !== undefined) throw problem;
    if (this.#ended) return END;
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<Envelope>> {
    this.#events.length = 0;
    this.#problem = undefined;
    this.end();
    return END;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
