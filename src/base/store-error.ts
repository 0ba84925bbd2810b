/** Explains why a store refuses or fails, in codes that callers can tell apart. */

export type StoreErrorCode =
  /** The key is not the key of the database. */
  | "wrong-key"
  /** A newer program wrote it, or its schema does not match its version. */
  | "incompatible"
  /** The library that reads it is not installed. */
  | "not-installed"
  /** The content differs from what was written. */
  | "damaged"
  /** Another process holds it for too long. */
  | "busy"
  | "full"
  | "unavailable"
  | "closed"
  | "not-found"
  /** Refused: it exists already, or another writer was first. */
  | "conflict"
  /** Refused: another live process has the session (sessions/lease.ts). */
  | "leased"
  /** Refused: the caller's value cannot be stored. */
  | "invalid";

/** An error that the user or the caller can fix; the message says how. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
