/**
 * Redacts long texts before they are needed, a piece at a time, so that other clients get their turns in between: a text that looks like
 * many secrets takes long. Later readers get the result at once.
 */
import { setImmediate } from "node:timers/promises";
import { findOwnSecret } from "../../system/own-secrets.js";
import { redact } from "./redact.js";
import { RedactingStream } from "./redacting-stream.js";

const PIECE = 16 * 1024;
/** Inputs that wait for a turn are needed again when it begins. */
const MOST_KEPT = 8;

const kept = new Map<string, string>();

export async function redactAhead(text: string): Promise<void> {
  if (kept.has(text)) return;
  const stream = new RedactingStream();
  let redacted = "";
  for (let at = 0; at < text.length; at += PIECE) {
    redacted += stream.push(text.slice(at, at + PIECE));
    await setImmediate();
  }
  kept.set(text, redacted + stream.end());
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value ?? "");
}

/** `redact`, with the result that `redactAhead` has made unless the process has learned a key since that is in it. */
export function redactPrepared(text: string): string {
  const ready = kept.get(text);
  return ready === undefined || findOwnSecret(ready, 0) !== undefined ? redact(text) : ready;
}
