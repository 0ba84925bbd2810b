/**
 * Writes turns to one session until it is killed or cannot go on, and says what has been acknowledged: `e ID` an event,
 * `i CALL` an intent, `c CALL` a conclusion, `x CODE` a refusal. Arguments: folder, seed, number of events at most, and `join` when
 * others write to the same session.
 */
import { writeSync } from "node:fs";
import { createIdSource } from "../../../base/ulid.js";
import { StoreError } from "../../store.js";
import { openFilesStore } from "../files-store.js";
import { SAMPLE_KEY, Script, sampleSession, sampleTime } from "./sample.js";

const [folder = "", seed = "0", most = "0", how = ""] = process.argv.slice(2);
const store = await openFilesStore({ folder, key: SAMPLE_KEY });
const session = sampleSession(Number(seed));
const ids = createIdSource({ wall: Date.now, random: (bytes) => globalThis.crypto.getRandomValues(bytes) });
const say = (text: string) => writeSync(1, `${text}\n`);
const lastEvent = async () => (await store.get(session.id))?.last_event ?? 0;

async function turn(from: number): Promise<number> {
  const call = ids.next("call");
  const mutating = from % 2 === 0;
  const asked = new Script(session.id, from + 1).asks(`question ${from}`);
  await store.append(session.id, asked.events, "sync");
  say(`e ${from + 1}`);
  await store.intend({
    call,
    session: session.id,
    tool: "bash",
    args_hash: "h",
    mutating,
    started_at: sampleTime(from),
  });
  say(`i ${call}`);
  const answered = asked.next
    .says("text ".repeat(500))
    .paid({ calls: 1 })
    .calls(call, "bash")
    .returns(call, "bash", "ok");
  await store.append(session.id, answered.events, "group");
  say(`e ${from + 5}`);
  await store.conclude(call, { outcome: "ok", completed_at: sampleTime(from), result_event: from + 5 });
  say(`c ${call}`);
  await store.append(session.id, answered.next.says("done").paid().ends().events, "sync");
  say(`e ${from + 8}`);
  return from + 8;
}

try {
  if ((await store.get(session.id)) === undefined) await store.create(session);
} catch (error) {
  if (!(error instanceof StoreError) || (how !== "join" && error.code !== "full")) throw error;
  say(`x ${error.code}`);
}
for (let id = await lastEvent(); id < Number(most); ) {
  try {
    id = await turn(id);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    say(`x ${error.code}`);
    if (how !== "join") break;
    id = await lastEvent();
  }
}
await store.close().catch((error: unknown) => {
  if (!(error instanceof StoreError)) throw error;
  say(`x ${error.code}`);
});
