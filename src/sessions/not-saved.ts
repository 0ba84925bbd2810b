/** The failure of a run whose session cannot be written. */
import { type Failure, failure } from "../protocol/errors.js";

export function notSaved(error: Error): Failure {
  const detail = error.message;
  const isTakenOver = (error as { readonly code?: unknown }).code === "conflict";
  return failure(isTakenOver ? "SessionTakenOver" : "SessionNotSaved", { detail });
}
