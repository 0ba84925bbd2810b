/**
 * Passes values to a consumer that is loaded late.
 *
 * 1. Values that come before the consumer is loaded wait. It gets them first and in order.
 * 2. `ready` starts the loading. After a failure the next `ready` tries again; the values still wait.
 */
export interface LateConsumerOptions<Consumer, Value> {
  readonly load: () => Promise<Consumer>;
  readonly consume: (consumer: Consumer, value: Value) => void;
  /** The most values that may wait; beyond that the oldest are dropped. Default: no limit. */
  readonly most?: number;
}

export class LateConsumer<Consumer, Value> {
  readonly #options: LateConsumerOptions<Consumer, Value>;
  readonly #waiting: Value[] = [];
  #loading: Promise<Consumer> | undefined;
  #loaded: { readonly consumer: Consumer } | undefined;

  constructor(options: LateConsumerOptions<Consumer, Value>) {
    this.#options = options;
  }

  /** Undefined until it is loaded. */
  get consumer(): Consumer | undefined {
    return this.#loaded?.consumer;
  }

  /** Tells whether there is a consumer, or values that wait for one. */
  get isUsed(): boolean {
    return this.#loaded !== undefined || this.#waiting.length > 0;
  }

  /** The loading that `ready` started; undefined before that and after a failure. */
  get loading(): Promise<Consumer> | undefined {
    return this.#loading;
  }

  push(value: Value): void {
    const { consume, most = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#loaded !== undefined) consume(this.#loaded.consumer, value);
    else if (this.#waiting.push(value) > most) this.#waiting.shift();
  }

  /** The consumer, once it has all values so far. Rejects if it cannot be loaded; a caller may ignore that. */
  ready(): Promise<Consumer> {
    if (this.#loading !== undefined) return this.#loading;
    const loading = this.#load();
    this.#loading = loading;
    loading.catch(() => {
      this.#loading = undefined;
    });
    return loading;
  }

  async #load(): Promise<Consumer> {
    const consumer = await this.#options.load();
    // Values that the consumer causes while it catches up come last.
    for (const value of this.#waiting) this.#options.consume(consumer, value);
    this.#waiting.length = 0;
    this.#loaded = { consumer };
    return consumer;
  }
}
