/** Listeners to one stream of values. Values from before the first listener wait for it. */
type Listener<Value> = (value: Value) => void;

export class EarlyListeners<Value> {
  readonly #listeners = new Set<Listener<Value>>();
  readonly #most: number;
  #early: Value[] | undefined = [];

  /** `most`: how many values may wait; later ones are dropped until a listener comes. */
  constructor({ most = Number.POSITIVE_INFINITY }: { readonly most?: number } = {}) {
    this.#most = most;
  }

  /** Returns a function that removes the listener. */
  add(listener: Listener<Value>): () => void {
    this.#listeners.add(listener);
    const missed = this.#early ?? [];
    this.#early = undefined;
    for (const value of missed) listener(value);
    return () => this.#listeners.delete(listener);
  }

  /** `give` passes the value to each listener; default: it calls the listener. */
  deliver(value: Value, give: (listener: Listener<Value>) => void = (listener) => listener(value)): void {
    if (this.#early !== undefined && this.#early.length < this.#most) this.#early.push(value);
    for (const listener of this.#listeners) give(listener);
  }

  /** No value is delivered or waits from now on, until a listener is added. */
  clear(): void {
    this.#listeners.clear();
    this.#early = undefined;
  }
}
