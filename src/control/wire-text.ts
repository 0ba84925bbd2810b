/** An event on the wire. It goes to all its readers in a row, so the texts of the last one are kept. */
import type { Envelope } from "../protocol/envelope.js";

let last: { readonly event: Envelope; readonly text: string; frame?: string } | undefined;

function textsOf(event: Envelope) {
  if (last?.event !== event) last = { event, text: JSON.stringify(event) };
  return last;
}

/** The JSON of an event. */
export function wireText(event: Envelope): string {
  return textsOf(event).text;
}

/** A whole server-sent event. */
export function streamFrame(event: Envelope): string {
  const texts = textsOf(event);
  texts.frame ??= `id: ${event.id}\nevent: ${event.kind}\ndata: ${texts.text}\n\n`;
  return texts.frame;
}

/** The same with another id, which a reader sends back as it is. */
export function streamFrameAs(id: string, event: Envelope): string {
  return `id: ${id}\nevent: ${event.kind}\ndata: ${wireText(event)}\n\n`;
}
