/** For tests: sessions and events with known content. */
import { createIdSource } from "../../../base/ulid.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { NewSession } from "../../store.js";

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

/** Every 50th event is too large for its row; the same large text comes back later. */
export function sampleEvent(session: SessionId, id: number): Envelope {
  const filler = id % 50 === 0 ? `${id % 100} large `.repeat(1200) : "";
  const payload = { text: `The quick conversation, event ${id}. ${filler}` };
  return { id, kind: "TextDelta", session, originator: CLIENT, ts: sampleTime(id), payload };
}

export function sampleEvents(session: SessionId, from: number, to: number): Envelope[] {
  return Array.from({ length: to - from + 1 }, (_, i) => sampleEvent(session, from + i));
}
