/**
 * A session as JSON lines: the public form, described in docs/design/sessions.md.
 *
 * 1. The first line is the header; every other line is one event in its envelope, in order, its fields in the order below.
 * 2. What the header says is true of the session wherever it is. Pins, notices and expiry belong to the store it is in.
 */
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionRecord } from "../store.js";
import { type Redact, redactEvents } from "./redact-events.js";

export const FORMAT_VERSION = 1;

export interface ExportOptions {
  readonly redact: Redact;
}

/** Lines without their line ends. */
export async function* exportJsonl(
  record: SessionRecord,
  events: AsyncIterable<Envelope>,
  { redact }: ExportOptions,
): AsyncGenerator<string> {
  const { id, log, cwd, provider, model, created_at, title, branch_of, parent, last_event } = record;
  yield JSON.stringify({
    oxbow: "session",
    version: FORMAT_VERSION,
    id,
    log,
    cwd: redact(cwd),
    provider,
    model,
    created_at,
    title: title === undefined ? undefined : redact(title),
    branch_of,
    parent,
    last_event,
  });
  for await (const event of redactEvents(events, redact)) yield envelopeLine(event);
}

function envelopeLine({ id, kind, session, originator, ts, payload }: Envelope): string {
  return JSON.stringify({ id, kind, session, originator, ts, payload });
}
