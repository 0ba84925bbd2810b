/** What a program that uses the library has to catch. */
import { type Failure, failure } from "../protocol/errors.js";

/** The prompt could not be worked on, or the harness could not be made: `failure` says why, for people and for programs. */
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

/** The prompt was cancelled. It goes by the name that the rest of the platform uses for that. */
export class PromptCancelledError extends Error {
  readonly code = "ABORT_ERR";

  /** `cause` is the reason of the signal, when a signal it was. */
  constructor(cause?: unknown) {
    super("The prompt was cancelled.", cause === undefined ? undefined : { cause });
    this.name = "AbortError";
  }
}
