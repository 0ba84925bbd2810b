/**
 * Prepares the first tool call of a session while the model answers. Loading the permission rules, the sandbox and the shell takes
 * about 100 ms, which the call would wait for otherwise.
 */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.js";
import type { Subscriber } from "../feature/part.js";

/** By then the first request has been sent. Most models begin their answer later than this plus the preparation. */
const PREPARE_AFTER_MS = 100;

export interface FirstCall {
  readonly subscriber: Subscriber;
  /** Resolves when nothing is being prepared any more. */
  close(): Promise<void>;
}

/**
 * Runs the steps in order, each once, while the model thinks. When text streams or the turn ends, the remaining steps wait for the next
 * turn.
 */
export function firstCall(clock: Clock, steps: readonly (() => Promise<unknown>)[]): FirstCall {
  const left = [...steps];
  let isThinking = false;
  let cancel = () => {};
  let preparing: Promise<void> = Promise.resolve();
  const prepare = async () => {
    for (;;) {
      // The answer may have arrived while something else kept the process busy.
      await setImmediate();
      if (!isThinking || left.length === 0) return;
      await left.shift()?.();
    }
  };
  const stop = () => {
    isThinking = false;
    cancel();
  };
  return {
    subscriber: {
      name: "05-prepare-first-call",
      run({ kind }) {
        if ((kind === "TextDelta" || kind === "TurnEnded") && isThinking) stop();
        if (kind !== "TurnStarted" || left.length === 0) return;
        isThinking = true;
        // If something cannot be loaded, the call that needs it reports that.
        cancel = clock.after(PREPARE_AFTER_MS, () => {
          preparing = prepare().catch(() => {});
        });
      },
    },
    async close() {
      left.length = 0;
      stop();
      await preparing;
    },
  };
}
