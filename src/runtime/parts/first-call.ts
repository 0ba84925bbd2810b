/**
 * Prepares the first tool call of a session while the model answers. Loading the permission rules, the sandbox and the shell takes
 * about 100 ms, which the call would wait for otherwise.
 */
import type { Clock } from "../../base/clock.js";
import type { Subscriber } from "../../chain/build.js";

/** By then the first request is on its way. Most models take longer to begin their answer than this and the preparation together. */
const PREPARE_AFTER_MS = 100;

export interface FirstCall {
  readonly subscriber: Subscriber;
  close(): void;
}

/** Runs the steps in order, once, in a turn whose model thinks for a moment. Once text streams, the processor is left to it. */
export function firstCall(clock: Clock, steps: readonly (() => Promise<unknown>)[]): FirstCall {
  let cancel: (() => void) | undefined;
  const left = [...steps];
  const stop = () => {
    cancel?.();
    cancel = undefined;
  };
  const prepare = async () => {
    for (let step = left.shift(); step !== undefined; step = left.shift()) await step();
  };
  return {
    subscriber: {
      name: "05-prepare-first-call",
      run({ kind }) {
        if (kind === "TextDelta" && cancel !== undefined) stop();
        if (kind !== "TurnStarted" || left.length === 0) return;
        // A call that needs what cannot be loaded says so itself.
        cancel = clock.after(PREPARE_AFTER_MS, () => void prepare().catch(() => {}));
      },
    },
    close() {
      left.length = 0;
      stop();
    },
  };
}
