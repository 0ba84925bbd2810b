/** Gives the other work of the process its turn while much text is compared: otherwise no key press could stop a search. */

/** In comparisons of one character with one of a pattern. */
const WORK_PER_BREATH = 8 * 1024 * 1024;
/** A text without a match, or an event without text, takes work, too. */
const LEAST_WORK = 4096;

export class Breath {
  #work = 0;

  /** After each piece of work. */
  async after(work: number): Promise<void> {
    this.#work += Math.max(work, LEAST_WORK);
    if (this.#work < WORK_PER_BREATH) return;
    this.#work = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
