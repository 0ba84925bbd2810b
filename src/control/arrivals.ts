/** Does things one after the other in the order in which they came, however long each one takes. */
export class Arrivals {
  #last: Promise<unknown> = Promise.resolve();

  next<T>(action: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(action);
    this.#last = mine.catch(() => {});
    return mine;
  }
}
