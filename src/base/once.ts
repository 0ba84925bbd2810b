/** A value that is made at its first use, once for all callers. A failure is not remembered: the next use tries again. */
export class Once<Value> {
  readonly #make: () => Promise<Value>;
  #made: Promise<Value> | undefined;

  constructor(make: () => Promise<Value>) {
    this.#make = make;
  }

  /** Undefined before the first use and after a failure. */
  get made(): Promise<Value> | undefined {
    return this.#made;
  }

  get(): Promise<Value> {
    if (this.#made !== undefined) return this.#made;
    const made: Promise<Value> = this.#make().catch((error) => {
      if (this.#made === made) this.#made = undefined;
      throw error;
    });
    this.#made = made;
    return made;
  }

  /** The next use makes it again. Returns what was made. */
  forget(): Promise<Value> | undefined {
    const made = this.#made;
    this.#made = undefined;
    return made;
  }
}

export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  const value = new Once(make);
  return () => value.get();
}
