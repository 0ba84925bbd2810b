/** A local Chat Completions server: does here what a hosted service does for its users. */
import type { Model } from "../../engine/ports.js";
import { withConstrainedCalls } from "./constrained-calls.js";
import { withCutWarning } from "./cut-warning.js";
import { withTextCalls } from "./text-call-recovery.js";

export function withLocalCare(model: Model): Model {
  return withConstrainedCalls(withTextCalls(withCutWarning(model)));
}
