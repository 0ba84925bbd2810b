/** Time as a dependency: the engine and its tests never read the machine's clock themselves. */
export interface Clock {
  /** Milliseconds that only go forward. */
  now(): number;
  /** Milliseconds since the epoch. */
  wall(): number;
  /** Runs `action` after `ms`; the returned function cancels it. `unheld`: the process may end before. */
  after(ms: number, action: () => void, hold?: "unheld"): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(ms, action, hold) {
    const timer: unknown = setTimeout(action, ms);
    // Browsers have no `unref`.
    if (hold === "unheld") (timer as { unref?(): void }).unref?.();
    return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
  },
};

/** A clock that only a test moves. */
export class ManualClock implements Clock {
  #now = 0;
  #sequence = 0;
  readonly #epoch: number;
  readonly #timers = new Map<number, { at: number; action: () => void; holds: boolean }>();

  constructor(epoch = Date.UTC(2026, 0, 1)) {
    this.#epoch = epoch;
  }

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.#epoch + this.#now;
  }

  after(ms: number, action: () => void, hold?: "unheld"): () => void {
    const key = this.#sequence++;
    this.#timers.set(key, { at: this.#now + ms, action, holds: hold !== "unheld" });
    return () => this.#timers.delete(key);
  }

  /** The timers that would keep a process alive. */
  get pending(): number {
    return [...this.#timers.values()].filter(({ holds }) => holds).length;
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers]
        .filter(([, timer]) => timer.at <= end)
        .sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0];
      if (due === undefined) break;
      this.#timers.delete(due[0]);
      this.#now = Math.max(this.#now, due[1].at);
      due[1].action();
    }
    this.#now = end;
  }
}
