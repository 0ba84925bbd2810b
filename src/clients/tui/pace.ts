/**
 * Decides when the screen is painted: at once after a key, at the frame rate while an answer streams, and regularly while the screen
 * shows a running time. When nothing changes there is no timer.
 */
import type { Clock } from "../../base/clock.js";

export interface PaceOptions {
  readonly clock: Clock;
  readonly paint: () => void;
  /** How long until the screen changes by itself; undefined if it does not. */
  readonly nextChange: () => number | undefined;
}

const FRAME_MS = 50;

export class Pace {
  readonly #options: PaceOptions;
  #paintedAt = Number.NEGATIVE_INFINITY;
  #stopPaint: (() => void) | undefined;
  #stopTick: (() => void) | undefined;
  #tickAt = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  changed(cause: "key" | "event" | "stream"): void {
    if (this.#stopped) return;
    this.#schedule();
    if (this.#stopPaint !== undefined && cause !== "key") return;
    const { clock } = this.#options;
    const wait = cause === "key" ? 0 : this.#paintedAt + FRAME_MS - clock.now();
    if (wait <= 0) this.now();
    else this.#stopPaint = clock.after(wait, () => this.now());
  }

  /** Paints without waiting. */
  now(): void {
    this.#stopPaint?.();
    this.#stopPaint = undefined;
    if (this.#stopped) return;
    this.#paintedAt = this.#options.clock.now();
    this.#options.paint();
  }

  stop(): void {
    this.#stopped = true;
    this.#stopPaint?.();
    this.#stopTick?.();
  }

  #schedule(): void {
    const { clock, nextChange } = this.#options;
    const wait = nextChange();
    if (wait === undefined || this.#stopped) return;
    const at = clock.now() + Math.max(1, wait);
    if (this.#stopTick !== undefined && this.#tickAt <= at) return;
    this.#stopTick?.();
    this.#tickAt = at;
    this.#stopTick = clock.after(at - clock.now(), () => {
      this.#stopTick = undefined;
      this.now();
      this.#schedule();
    });
  }
}
