/**
 * Merges the deltas of a stream into fewer events: those that arrive within the window are one. The first is sent at once,
 * so no client waits for it. Live, stored and replayed events are the same.
 */
import type { Clock } from "../base/clock.js";

const MERGE_WINDOW_MS = 10;

export type DeltaKind = "TextDelta" | "ThinkingDelta";

export class DeltaMerger {
  readonly #clock: Clock;
  readonly #emit: (kind: DeltaKind, text: string) => void;
  #kind: DeltaKind = "TextDelta";
  #held = "";
  #lastEmit = Number.NEGATIVE_INFINITY;
  #stopTimer: (() => void) | undefined;

  constructor(clock: Clock, emit: (kind: DeltaKind, text: string) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  add(kind: DeltaKind, text: string): void {
    if (text === "") return;
    if (kind !== this.#kind) {
      this.flush();
      this.#kind = kind;
    }
    this.#held += text;
    if (this.#stopTimer !== undefined) return;
    const wait = this.#lastEmit + MERGE_WINDOW_MS - this.#clock.now();
    if (wait <= 0) this.flush();
    else this.#stopTimer = this.#clock.after(wait, () => this.flush());
  }

  flush(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    if (this.#held === "") return;
    const held = this.#held;
    this.#held = "";
    this.#lastEmit = this.#clock.now();
    this.#emit(this.#kind, held);
  }
}
