/** For tests: sessions and events with known content. */
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventBody } from "../../../protocol/events.js";
import type { SessionId } from "../../../protocol/ids.js";
import { NO_USAGE } from "../../../protocol/usage.js";
import type { Snapshot } from "../../store.js";
import { SAMPLE_KEY, sampleIds, sampleSession, sampleTime } from "../../test-support/sample-session.js";

export { SAMPLE_KEY, sampleIds, sampleSession, sampleTime };

const CLIENT = sampleIds(1).next("cli");

/**
 * Every 50th event is too large for its row; the same large text comes back later. Of every ten the eighth begins a turn and the
 * ninth belongs to it.
 */
export function sampleEvent(session: SessionId, id: number): Envelope {
  return { id, session, originator: CLIENT, ts: sampleTime(id), ...sampleBody(id) } as Envelope;
}

function sampleBody(id: number): EventBody {
  const text = `The quick conversation, event ${id}. ${id % 50 === 0 ? `${id % 100} large `.repeat(1200) : ""}`;
  const turn = sampleIds(Math.floor(id / 10)).next("turn");
  if (id % 10 === 8) return { kind: "TurnStarted", payload: { turn, input: [{ type: "text", text }] } };
  if (id % 10 !== 9) return { kind: "TextDelta", payload: { text } };
  return {
    kind: "CostIncremented",
    payload: { turn, provider: "offline", model: "echo", usage: NO_USAGE, elapsed_ms: id },
  };
}

export function sampleEvents(session: SessionId, from: number, to: number): Envelope[] {
  return Array.from({ length: to - from + 1 }, (_, i) => sampleEvent(session, from + i));
}

export function sampleSnapshot(from: number, to: number): Snapshot {
  const content = [{ type: "text", text: `What ${to - from} events came to. `.repeat(300) }] as const;
  return { from, to, turns: 1, messages: [{ role: "user", content }], origins: [from + 1] };
}
