/** Runs actions with the same key one after the other, in order. An error in one does not affect the others. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, action: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const turn = before.then(action, action);
    this.#last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    }
  }

  /** Takes several keys at once, always in the same order, so that no deadlock can occur. */
  async runAll<T>(keys: readonly string[], action: () => Promise<T>): Promise<T> {
    const ordered = [...new Set(keys)].sort();
    return ordered.reduceRight<() => Promise<T>>((next, key) => () => this.run(key, next), action)();
  }
}
