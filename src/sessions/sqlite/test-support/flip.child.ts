/**
 * Opens a database with one byte changed, many times over, and counts what came of it. Arguments: folder with a `whole.db`,
 * seed, number of flips, last event, last event that has expired.
 */
import { readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Envelope } from "../../../protocol/envelope.js";
import { withoutContent } from "../../expired.js";
import { type SessionStore, StoreError } from "../../store.js";
import { openSqliteStore } from "../sqlite-store.js";
import { SAMPLE_KEY, sampleEvents, sampleSession, sampleSnapshot } from "./sample.js";

const [folder = "", seed = "1", flips = "0", last = "0", expired = "0"] = process.argv.slice(2);
const whole = readFileSync(join(folder, "whole.db"));
const path = join(folder, "flipped.db");
const session = sampleSession(1);
const expected = sampleEvents(session.id, 1, Number(last)).map((event) =>
  event.id <= Number(expired) ? withoutContent(event) : event,
);
const snapshot = sampleSnapshot(Number(expired), 207);
const counts = { refused: 0, found: 0, harmless: 0, wrong: 0 };

let state = Number(seed);
function random(below: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

async function outcome(): Promise<keyof typeof counts> {
  let store: SessionStore | undefined;
  try {
    store = await openSqliteStore({ path, key: SAMPLE_KEY });
    await store.list();
    await store.orphans(session.id);
    await store.last(session.id, "TurnStarted");
    const kept = await store.snapshot?.(session.id);
    const { ok } = await store.verify(session.id);
    const events: Envelope[] = [];
    for await (const event of store.events(session.id)) events.push(event);
    // An event that is not the one that was written must never be handed out, whatever verify says.
    if (!isDeepStrictEqual(events, expected)) return "wrong";
    if (kept !== undefined && !isDeepStrictEqual(kept, snapshot)) return "wrong";
    await store.append(session.id, sampleEvents(session.id, expected.length + 1, expected.length + 1), "sync");
    return ok ? "harmless" : "found";
  } catch (error) {
    if (error instanceof StoreError) return store === undefined ? "refused" : "found";
    // The database's own words for a schema that makes no sense.
    if ((error as { code?: unknown }).code === "SQLITE_ERROR") return "found";
    throw error;
  } finally {
    await store?.close().catch(() => {});
  }
}

for (let flip = 0; flip < Number(flips); flip++) {
  const bytes = Buffer.from(whole);
  // Every page gets its share, and the first hundred bytes of one, where its structure is, a larger one.
  const page = flip % (bytes.length / 4096);
  const place = page * 4096 + random(flip % 2 === 0 ? 100 : 4096);
  bytes.writeUInt8(bytes.readUInt8(place) ^ (1 + random(255)), place);
  for (const ending of ["", "-wal", "-shm"]) rmSync(path + ending, { force: true });
  writeFileSync(path, bytes);
  writeSync(2, `${place}\n`);
  counts[await outcome()] += 1;
}
writeSync(1, JSON.stringify(counts));
