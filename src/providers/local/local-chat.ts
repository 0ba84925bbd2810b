/** A local Chat Completions server, with the repairs that a hosted service does itself. */
import type { Model } from "../../engine/ports.js";
import { withConstrainedCalls } from "./constrained-calls.js";
import { withCutWarning } from "./cut-warning.js";
import { withTextCalls } from "./text-call-recovery.js";

export function withLocalCare(model: Model): Model {
  return withConstrainedCalls(withTextCalls(withCutWarning(model)));
}
