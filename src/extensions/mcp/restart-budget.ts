/** How often a server is started again: at most three times within a minute, after 1, 2 and 4 seconds. */
import type { Clock } from "../../base/clock.js";

const MOST_RESTARTS = 3;
const WINDOW_MS = 60_000;
const BACKOFF_MS = [1000, 2000, 4000];

export class RestartBudget {
  readonly #clock: Clock;
  #restarts: readonly number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The restarts of the last minute. */
  get used(): number {
    return this.#recent().length;
  }

  /** How long to wait before the next start; undefined if there is none. */
  get waitMs(): number | undefined {
    const { used } = this;
    return used >= MOST_RESTARTS ? undefined : (BACKOFF_MS[used] ?? WINDOW_MS);
  }

  spend(): void {
    this.#restarts = [...this.#recent(), this.#clock.now()];
  }

  renew(): void {
    this.#restarts = [];
  }

  #recent(): readonly number[] {
    return this.#restarts.filter((at) => this.#clock.now() - at < WINDOW_MS);
  }
}
