/** Says why a text cannot be changed as an edit, a patch or an answer says. The message is for the model: what is wrong, where, and what to do. */
export class ChangeError extends Error {
  override readonly name = "ChangeError";
  /** Holds what the message quotes from the file. */
  readonly quoted: string | undefined;

  constructor(message: string, quoted?: string) {
    super(message);
    this.quoted = quoted;
  }
}
