/** A key that cannot be had; the message says what to do about it and holds no part of a key. */
export class KeyError extends Error {
  override readonly name = "KeyError";
  readonly code: "wrong-key" | "unavailable" | "invalid";

  constructor(code: KeyError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
