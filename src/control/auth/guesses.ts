/**
 * Limits wrong guesses by where they come from.
 *
 * 1. A right token always passes: one process that guesses must not lock out the others of the same machine.
 * 2. It remembers a bounded number of places.
 */
import type { Clock } from "../../base/clock.js";

const MOST_GUESSES = 20;
const WINDOW_MS = 60_000;
const MOST_PLACES = 1000;

export class Guesses {
  readonly #clock: Clock;
  readonly #places = new Map<string, { count: number; since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a wrong guess; returns the seconds to wait if there were too many. */
  wrong(place: string): number | undefined {
    const now = this.#clock.now();
    let entry = this.#places.get(place);
    if (entry === undefined || now - entry.since >= WINDOW_MS) {
      entry = { count: 0, since: now };
      this.#places.delete(place);
      this.#places.set(place, entry);
      const [oldest] = this.#places.keys();
      if (this.#places.size > MOST_PLACES && oldest !== undefined) this.#places.delete(oldest);
    }
    entry.count += 1;
    if (entry.count <= MOST_GUESSES) return undefined;
    return Math.max(1, Math.ceil((entry.since + WINDOW_MS - now) / 1000));
  }
}
