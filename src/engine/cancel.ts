/**
 * Cancellation for the loop: a cancelled turn stops waiting, even if the
 * work it waits for does not react.
 */
import { onAbort } from "../base/abort-tree.js";
import type { Clock } from "../base/clock.js";
import type { Failure } from "../protocol/errors.js";

/** Explains why a turn was cancelled: by a client, or because a limit of the run was reached. */
export interface CancelReason {
  readonly by: string;
  /** Set if no client asked for the cancel. */
  readonly failure?: Failure;
  /** The outcome of such a turn; default: limit. */
  readonly outcome?: "limit" | "failed";
}

/** A failure that ends the turn: a link or hook throws it, and the loop turns it into the outcome. */
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
