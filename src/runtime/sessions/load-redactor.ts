/** Loads what hides secrets in sessions: when something is written, exported or imported. */
import type { Redactor } from "../../sessions/redacted-events.js";

export async function loadRedactor(): Promise<Redactor> {
  const [{ redact }, { RedactedPieces }] = await Promise.all([
    import("../../security/redact/redact.js"),
    import("../../security/redact/redacting-stream.js"),
  ]);
  return { redact, stream: () => new RedactedPieces() };
}
