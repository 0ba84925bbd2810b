export type CredentialErrorCode =
  /** The key does not fit the file. */
  | "wrong-key"
  /** The file needs a passphrase, and there is none. */
  | "locked"
  /** The file is damaged. */
  | "damaged"
  /** A newer program wrote it. */
  | "newer"
  /** Another process holds it for too long. */
  | "busy"
  | "unavailable"
  | "not-found"
  /** The request is not one that may be made with this credential. */
  | "refused"
  /** The provider requires a new sign-in. */
  | "signed-out";

/** Something the user can act on; the message says how, and holds no part of a key. */
export class CredentialError extends Error {
  override readonly name = "CredentialError";
  readonly code: CredentialErrorCode;

  constructor(code: CredentialErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
