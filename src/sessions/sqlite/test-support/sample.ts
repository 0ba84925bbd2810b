/** For tests: sessions and events with known content. */
import { createIdSource } from "../../../base/ulid.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventBody } from "../../../protocol/events.js";
import type { SessionId } from "../../../protocol/ids.js";
import { NO_USAGE } from "../../../protocol/usage.js";
import type { NewSession, Stretch } from "../../store.js";

export const SAMPLE_KEY = new Uint8Array(32).fill(7);
const START = Date.UTC(2026, 0, 31, 12);

/** Ids that differ between two seeds and are the same for one. */
export function sampleIds(seed: number) {
  return createIdSource({ wall: () => START + seed, random: (bytes) => bytes.fill(seed & 31) });
}

export function sampleTime(ms: number): string {
  return new Date(START + ms).toISOString();
}

export function sampleSession(seed: number): NewSession {
  const ids = sampleIds(seed);
  const place = { cwd: "/home/somebody/secret-project", provider: "offline", model: "echo" };
  return { id: ids.next("sess"), log: ids.next("log"), ...place, created_at: sampleTime(0), title: "A plain title" };
}

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

export function sampleStretch(after: number, to: number): Stretch {
  const content = [{ type: "text", text: `What ${to - after} events came to. `.repeat(300) }] as const;
  return { after, to, turns: 1, messages: [{ role: "user", content }], origins: [after + 1] };
}
