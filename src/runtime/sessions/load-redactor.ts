/** Loads what hides secrets in sessions: when something is written, exported or imported. */
import type { InputContent } from "../../protocol/content.js";
import type { Redactor } from "../../sessions/redacted-events.js";

export async function loadRedactor(): Promise<Redactor> {
  const [{ redactPrepared }, { RedactedPieces }] = await Promise.all([
    import("../../security/redact/redact-ahead.js"),
    import("../../security/redact/redacting-stream.js"),
  ]);
  return { redact: redactPrepared, stream: () => new RedactedPieces() };
}

/** An ordinary input loads nothing. */
const SHORT_INPUT = 16 * 1024;

/** Redacts a long input before its event, so that no other client waits meanwhile. */
export async function redactInput(content: readonly InputContent[]): Promise<void> {
  for (const block of content) {
    if (block.type !== "text" || block.text.length <= SHORT_INPUT) continue;
    const { redactAhead } = await import("../../security/redact/redact-ahead.js");
    await redactAhead(block.text);
  }
}
