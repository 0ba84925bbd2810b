/**
 * Writes to one session until it is killed, and says what has been acknowledged:
 * `e ID` an event, `i CALL` an intent, `c CALL` a conclusion. Arguments: path, seed, number of events at most.
 */
import { writeSync } from "node:fs";
import { createIdSource } from "../../../base/ulid.js";
import { openSqliteStore } from "../sqlite-store.js";
import { SAMPLE_KEY, sampleEvent, sampleEvents, sampleSession, sampleTime } from "./sample.js";

const [path = "", seed = "0", most = "0"] = process.argv.slice(2);
const store = await openSqliteStore({ path, key: SAMPLE_KEY, groupDelayMs: 1 });
const session = sampleSession(Number(seed));
if ((await store.get(session.id)) === undefined) await store.create(session);
const ids = createIdSource({ wall: Date.now, random: (bytes) => globalThis.crypto.getRandomValues(bytes) });
const say = (text: string) => writeSync(1, `${text}\n`);

let id = (await store.get(session.id))?.last_event ?? 0;
while (id < Number(most)) {
  const call = ids.next("call");
  const mutating = id % 2 === 0;
  const intent = { call, session: session.id, tool: "bash", args_hash: "h", mutating, started_at: sampleTime(id) };
  await store.intend(intent);
  say(`i ${call}`);
  await store.append(session.id, [sampleEvent(session.id, id + 1)], "sync");
  say(`e ${id + 1}`);
  await store.append(session.id, sampleEvents(session.id, id + 2, id + 4), "group");
  id += 4;
  say(`e ${id}`);
  await store.conclude(call, { outcome: "ok", completed_at: sampleTime(id), result_event: id });
  say(`c ${call}`);
}
await store.close();
