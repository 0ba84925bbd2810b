/** Tells the program when the client has been idle for a moment after a turn. */
import type { Clock } from "../../base/clock.js";

const REST_MS = 1000;

export class RestTimer {
  readonly #clock: Clock;
  readonly #onRest: () => void;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, onRest: () => void) {
    this.#clock = clock;
    this.#onRest = onRest;
  }

  start(): void {
    this.stop();
    this.#stop = this.#clock.after(REST_MS, this.#onRest);
  }

  stop(): void {
    this.#stop?.();
  }
}
