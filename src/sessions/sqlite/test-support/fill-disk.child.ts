/**
 * Writes until the disk is full. Says `e ID` when an event has been acknowledged, `i CALL` for an intent, and `x CODE` when it
 * was refused. Arguments: path.
 */
import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { createIdSource } from "../../../base/ulid.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { StoreError } from "../../store.js";
import { openSqliteStore } from "../sqlite-store.js";
import { SAMPLE_KEY, sampleEvent, sampleSession, sampleTime } from "./sample.js";

const MOST = 5000;
const say = (text: string) => writeSync(1, `${text}\n`);
const ids = createIdSource({ wall: Date.now, random: (bytes) => globalThis.crypto.getRandomValues(bytes) });
const session = sampleSession(1);
const store = await openSqliteStore({ path: process.argv[2] ?? "", key: SAMPLE_KEY });
let refusals = 0;
const attempt = async (acknowledgement: string, action: Promise<void>) => {
  try {
    await action;
    say(acknowledgement);
    return true;
  } catch (error) {
    say(`x ${error instanceof StoreError ? error.code : error}`);
    refusals += 1;
    return false;
  }
};

await store.create(session);
let id = 1;
// It goes on for a while after the first refusal: small writes may still find a place, and must then be kept too.
for (let tries = 0; refusals < 10 && tries < MOST; tries++) {
  const size = refusals > 0 && tries % 2 === 0 ? 20 : 3000;
  const text = randomBytes(size).toString("base64");
  const event = { ...sampleEvent(session.id, 1), id, payload: { text } } as Envelope;
  if (await attempt(`e ${id}`, store.append(session.id, [event], tries % 3 === 0 ? "sync" : "group"))) id += 1;
  const call = ids.next("call");
  const intent = { call, session: session.id, tool: "bash", args_hash: "h", mutating: true, started_at: sampleTime(1) };
  await attempt(`i ${call}`, store.intend(intent));
}
await store.close().catch((error: unknown) => say(`x ${error instanceof StoreError ? error.code : error}`));
