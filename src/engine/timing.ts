/** Describes where a turn's time went: milliseconds by component, added up over the iterations. */
import type { Clock } from "../base/clock.js";

export class Timing {
  readonly #clock: Clock;
  readonly #parts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  add(part: string, ms: number): void {
    this.#parts.set(part, (this.#parts.get(part) ?? 0) + ms);
  }

  async measure<T>(part: string, action: () => Promise<T> | T): Promise<T> {
    const from = this.#clock.now();
    try {
      return await action();
    } finally {
      this.add(part, this.#clock.now() - from);
    }
  }

  report(): Readonly<Record<string, number>> {
    const out: Record<string, number> = {};
    for (const [part, ms] of this.#parts) out[part] = Math.round(ms * 1000) / 1000;
    return out;
  }
}
