/** Limits of subagents: at once in one session, and in total in one turn with everything below it. */
import { onAbort } from "../../base/abort-tree.js";

/** Limits how many subagents run at the same time. The others wait, the oldest first. */
export class Slots {
  readonly #most: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Undefined if the signal fires first. The returned function releases the slot. */
  async take(signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return undefined;
    if (this.#taken >= this.#most) {
      const hasPlace = await this.#wait(signal);
      if (!hasPlace) return undefined;
    } else this.#taken++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken--;
      else next();
    };
  }

  #wait(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const enter = () => {
        stopListening();
        resolve(true);
      };
      this.#waiting.push(enter);
      const stopListening = onAbort(signal, () => {
        const at = this.#waiting.indexOf(enter);
        if (at === -1) return;
        this.#waiting.splice(at, 1);
        resolve(false);
      });
    });
  }
}

/** Counts the subagents of one turn and of everything below it. */
export class TurnCount {
  readonly #most: number;
  #started = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** False if the turn has reached the limit. */
  add(): boolean {
    if (this.#started >= this.#most) return false;
    this.#started++;
    return true;
  }
}
