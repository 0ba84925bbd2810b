/**
 * Decides when a frame is written: at once if the last one is old enough, else later. While the terminal has not accepted the last
 * frame, none is made, so that a slow connection gets the newest state and no backlog.
 */
import type { Clock } from "../../../base/clock.js";

/** Short, so that quick typing is shown at once: a client slows down its streams itself. */
const FRAME_MS = 8;

export interface FramePacerOptions {
  readonly clock: Clock;
  /** The bytes of the frame now; undefined if it cannot be made yet. */
  readonly render: () => string | undefined;
  readonly write: (bytes: string, written: () => void) => void;
}

export class FramePacer {
  readonly #options: FramePacerOptions;
  readonly #holds = new Set<string>();
  readonly #whenWritten: (() => void)[] = [];
  #isDue = false;
  #isWriting = false;
  #last = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(options: FramePacerOptions) {
    this.#options = options;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  request(): void {
    this.#isDue = true;
    this.#flush();
  }

  /** No frame is written until every reason is released. */
  hold(reason: string): void {
    this.#holds.add(reason);
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  release(reason: string): void {
    this.#holds.delete(reason);
    this.#flush();
  }

  /** Runs the action once the terminal has accepted the last frame. */
  whenWritten(action: () => void): void {
    if (this.#isWriting) this.#whenWritten.push(action);
    else action();
  }

  #flush(): void {
    if (!this.#isDue || this.#isWriting || this.#holds.size > 0 || this.#cancelTimer !== undefined) return;
    const { clock, render, write } = this.#options;
    const wait = this.#last + FRAME_MS - clock.now();
    if (wait > 0) {
      this.#cancelTimer = clock.after(wait, () => {
        this.#cancelTimer = undefined;
        this.#flush();
      });
      return;
    }
    const bytes = render();
    if (bytes === undefined) return;
    this.#isDue = false;
    if (bytes === "") return;
    this.#last = clock.now();
    this.#isWriting = true;
    write(bytes, () => {
      this.#isWriting = false;
      for (const action of this.#whenWritten.splice(0)) action();
      this.#flush();
    });
  }
}
