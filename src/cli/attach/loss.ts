/** Tells that the engine has ended. */
export class Loss {
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  happens(): void {
    this.#controller.abort();
  }
}
