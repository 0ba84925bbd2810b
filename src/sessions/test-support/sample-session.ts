/** For tests: keys, ids, times and sessions with known content. */
import { createIdSource } from "../../base/ulid.js";
import type { NewSession } from "../store.js";

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
