/** The engine cannot be used: it is not there, refuses the token, or speaks another protocol. */
import type { Failure } from "../../protocol/errors.js";

export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** A command or a query was refused. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}
