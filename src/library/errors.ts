/** The errors of the library. */
import { type Failure, failure } from "../protocol/errors.js";

/** The prompt failed, or the harness could not be created: `failure` says why. */
export class HarnessError extends Error {
  readonly failure: Failure;

  constructor(cause: Failure) {
    super(cause.message);
    this.name = "HarnessError";
    this.failure = cause;
  }
}

/** A mistake in what the harness was given. */
export function invalid(detail: string): HarnessError {
  return new HarnessError(failure("ConfigurationInvalid", { detail }));
}

/** The prompt was cancelled. Its name is the platform's name for that. */
export class PromptCancelledError extends Error {
  readonly code = "ABORT_ERR";

  /** `cause` is the reason of the signal, if a signal cancelled it. */
  constructor(cause?: unknown) {
    super("The prompt was cancelled.", cause === undefined ? undefined : { cause });
    this.name = "AbortError";
  }
}
