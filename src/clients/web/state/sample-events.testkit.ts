/** Events of one session for tests: the time in milliseconds, the kind and the payload of each. */
import type { Envelope } from "../../../protocol/envelope.js";
import type { ClientId, SessionId } from "../../../protocol/ids.js";

export const SESSION = `sess_${"0".repeat(26)}` as SessionId;
const START = Date.parse("2026-05-04T10:00:00.000Z");

export function eventsOf(
  rows: readonly (readonly [ms: number, kind: Envelope["kind"], payload: object])[],
): readonly Envelope[] {
  return rows.map(([ms, kind, payload], index) => {
    const ts = new Date(START + ms).toISOString();
    const originator = `cli_${"0".repeat(26)}` as ClientId;
    return { id: index + 1, kind, session: SESSION, originator, ts, payload } as unknown as Envelope;
  });
}
