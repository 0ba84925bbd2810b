/**
 * Cancellation as the loop sees it: what a turn waits for is abandoned when the turn is cancelled, also when the
 * thing waited for does not listen.
 */
import { onAbort } from "../base/abort-tree.js";
import type { Clock } from "../base/clock.js";
import type { Failure } from "../protocol/errors.js";

/** Why a turn was cancelled: by a client, or because a limit of the run was reached. */
export interface CancelReason {
  readonly by: string;
  /** Set when no client asked for the cancel. */
  readonly failure?: Failure;
  /** What such a turn has come to; a limit unless it says otherwise. */
  readonly outcome?: "limit" | "failed";
}

/** A failure that ends the turn; a link or hook throws it, the loop turns it into the outcome. */
export class TurnFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = "TurnFailure";
    this.failure = failure;
  }
}

export const ABANDONED = Symbol("abandoned");

/** The promise's value, or ABANDONED once the signal has fired and `graceMs` have passed without one. */
export function unlessAbandoned<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  grace: { readonly clock: Clock; readonly ms: number },
): Promise<T | typeof ABANDONED> {
  return new Promise((resolve, reject) => {
    let stopTimer = () => {};
    const stopListening = onAbort(signal, () => {
      if (grace.ms === 0) resolve(ABANDONED);
      else stopTimer = grace.clock.after(grace.ms, () => resolve(ABANDONED));
    });
    const settle = () => {
      stopListening();
      stopTimer();
    };
    promise.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error) => {
        settle();
        reject(error);
      },
    );
  });
}
