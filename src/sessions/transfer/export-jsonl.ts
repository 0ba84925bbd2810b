/**
 * A session as JSON lines: the public form, described in docs/design/sessions.md.
 *
 * 1. The first line is the header; every other line is one event in its envelope, in order, its fields in the order below.
 * 2. What the header says is true of the session wherever it is. Pins, notices and expiry belong to the store it is in.
 */

import type { Envelope } from "../../protocol/envelope.js";
import { type Redactor, redactEvents } from "../redacted-events.js";
import type { SessionRecord } from "../store.js";

export const FORMAT_VERSION = 1;

export interface ExportOptions {
  readonly redactor: Redactor;
}

/** Lines without their line ends. */
export async function* exportJsonl(
  record: SessionRecord,
  events: AsyncIterable<Envelope>,
  { redactor }: ExportOptions,
): AsyncGenerator<string> {
  const { id, log, cwd, provider, model, created_at, title, branch_of, parent, last_event } = record;
  yield JSON.stringify({
    oxbow: "session",
    version: FORMAT_VERSION,
    id,
    log,
    cwd: redactor.redact(cwd),
    provider,
    model,
    created_at,
    title: title === undefined ? undefined : redactor.redact(title),
    branch_of,
    parent,
    last_event,
  });
  for await (const event of redactEvents(events, redactor)) yield envelopeLine(event);
}

function envelopeLine({ id, kind, session, originator, ts, payload }: Envelope): string {
  return JSON.stringify({ id, kind, session, originator, ts, payload });
}
