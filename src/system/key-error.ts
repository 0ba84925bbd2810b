/** A key is unavailable; the message says what to do and contains no part of a key. */
export class KeyError extends Error {
  override readonly name = "KeyError";
  readonly code: "wrong-key" | "unavailable" | "invalid";

  constructor(code: KeyError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
