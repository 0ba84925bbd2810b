/** Notices a connection on which nothing arrives: a network can vanish without a word. */
import type { Clock } from "../../base/clock.js";

export class SilenceWatch {
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #actions: { readonly onSilence: () => void; readonly probe?: () => void };
  #cancel: () => void;
  #lastTrafficAt: number;

  constructor(
    { clock, silenceMs }: { readonly clock: Clock; readonly silenceMs: number },
    /** `probe` asks the other side for a sign after half of the time. */
    actions: { readonly onSilence: () => void; readonly probe?: () => void },
  ) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.#actions = actions;
    this.#lastTrafficAt = clock.now();
    this.#cancel = this.#later(silenceMs / 2);
  }

  sawTraffic(): void {
    this.#lastTrafficAt = this.#clock.now();
  }

  stop(): void {
    this.#cancel();
  }

  #later(ms: number): () => void {
    return this.#clock.after(ms, () => this.#look());
  }

  #look(): void {
    const silent = this.#clock.now() - this.#lastTrafficAt;
    if (silent >= this.#silenceMs) {
      this.#actions.onSilence();
      return;
    }
    if (silent >= this.#silenceMs / 2) this.#actions.probe?.();
    this.#cancel = this.#later(
      Math.max(1, silent >= this.#silenceMs / 2 ? this.#silenceMs - silent : this.#silenceMs / 2 - silent),
    );
  }
}
