/** Something is wrong with what the user keeps about trust. The message says what to do. */
export class TrustError extends Error {
  override readonly name = "TrustError";
}
