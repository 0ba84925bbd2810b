/** Passes values to a consumer that is still being loaded. Earlier values wait and are passed first, in order. */
export class LateConsumer<Consumer, Value> {
  readonly #ready: Promise<Consumer>;
  readonly #consume: (consumer: Consumer, value: Value) => void;
  #waiting: Value[] = [];
  #consumer: { readonly value: Consumer } | undefined;

  constructor(loading: Promise<Consumer>, consume: (consumer: Consumer, value: Value) => void) {
    this.#consume = consume;
    this.#ready = loading.then((consumer) => {
      // Values that the consumer causes while it catches up wait as well.
      for (const value of this.#waiting) consume(consumer, value);
      this.#waiting = [];
      this.#consumer = { value: consumer };
      return consumer;
    });
    // `ready` reports a failure to callers that wait for it.
    this.#ready.catch(() => {});
  }

  push(value: Value): void {
    if (this.#consumer === undefined) this.#waiting.push(value);
    else this.#consume(this.#consumer.value, value);
  }

  /** The consumer, once it has everything that came so far. Rejects when it could not be loaded. */
  ready(): Promise<Consumer> {
    return this.#ready;
  }
}
