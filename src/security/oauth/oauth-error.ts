/** Explains why a sign-in failed. The message is one line for the user, without codes or tokens. */
export type OAuthProblem =
  /** The user or the provider refused. */
  | "refused"
  /** It took too long. */
  | "expired"
  /** Tokens that were given are no longer good: sign in again. */
  | "ended"
  /** The account may not use this. */
  | "not-entitled"
  | "port-taken"
  | "cancelled"
  /** May work later. */
  | "unreachable"
  /** An invalid answer. */
  | "unexpected";

export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly problem: OAuthProblem;

  constructor(problem: OAuthProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

export function cancelled(): OAuthError {
  return new OAuthError("cancelled", "Cancelled. Nothing was saved.");
}
