/** Computes how long to wait before the next attempt to connect: longer each time, and not the same for all clients of a server. */

const FIRST_MS = 100;
const MOST_MS = 10_000;

export class Backoff {
  readonly #random: () => number;
  #failures = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Failed attempts since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** `least`: what the server asks for. */
  next(least = 0): number {
    const most = Math.min(MOST_MS, FIRST_MS * 2 ** this.#failures);
    this.#failures += 1;
    return Math.max(least, Math.round(most / 2 + (this.#random() * most) / 2));
  }

  succeeded(): void {
    this.#failures = 0;
  }
}
