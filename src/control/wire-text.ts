/** The JSON of an event on the wire. An event goes to all its readers in a row, so the text of the last one is kept. */
import type { Envelope } from "../protocol/envelope.js";

let last: { readonly event: Envelope; readonly text: string } | undefined;

export function wireText(event: Envelope): string {
  if (last?.event !== event) last = { event, text: JSON.stringify(event) };
  return last.text;
}
