/** A session to copy, for tests. */
import type { Envelope } from "../../../../protocol/envelope.js";
import type { SessionId } from "../../../../protocol/ids.js";
import type { NewSession } from "../../../../sessions/store.js";

/** More than two pieces of a copy. */
export const EVENTS = 1400;

export const COPIED: NewSession = {
  id: "sess_01M7F0TY63B39H5SVH4DM3R6HA",
  log: "log_01M7F0TY63B39H5SVH4DM3R6HB",
  cwd: "/w",
  provider: "p",
  model: "m",
  created_at: "2026-01-31T12:00:00.000Z",
};

export function copyKey(): Uint8Array {
  return new Uint8Array(32).fill(7);
}

export function* eventsOf(session: SessionId): Generator<Envelope> {
  const turn = "turn_01M7F0TY63B39H5SVH4DM3R6HC" as const;
  const usage = { input: 1, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 };
  for (let id = 1; id <= EVENTS; id++) {
    const common = {
      id,
      session,
      originator: "cli_01M7F0TY63B39H5SVH4DM3R6HD",
      ts: "2026-01-31T12:00:00.000Z",
    } as const;
    if (id === 1) yield { ...common, kind: "TurnStarted", payload: { turn, input: [{ type: "text", text: "go" }] } };
    else if (id < EVENTS) yield { ...common, kind: "TextDelta", payload: { text: `word ${id}` } };
    else yield { ...common, kind: "TurnEnded", payload: { turn, outcome: "answered", text: "", iterations: 1, usage } };
  }
}
