/**
 * One of several processes that write to the same session: each wants to write the next event. Prints as JSON the ids that it
 * wrote and how often another process was first. Arguments: path, name, number of events.
 */
import { writeSync } from "node:fs";
import type { Envelope } from "../../../protocol/envelope.js";
import { StoreError } from "../../store.js";
import { openSqliteStore } from "../sqlite-store.js";
import { SAMPLE_KEY, sampleEvent, sampleSession } from "./sample.js";

const [path = "", name = "", most = "0"] = process.argv.slice(2);
const store = await openSqliteStore({ path, key: SAMPLE_KEY });
const { id: session } = sampleSession(1);
const written: number[] = [];
let conflicts = 0;
while (written.length < Number(most)) {
  const id = ((await store.get(session))?.last_event ?? 0) + 1;
  // Lets other processes write: one of them may have taken the next event.
  await new Promise((resolve) => setTimeout(resolve, 1));
  const event = { ...sampleEvent(session, 1), id, payload: { text: `${name} ${id}` } } as Envelope;
  try {
    await store.append(session, [event], written.length % 5 === 0 ? "sync" : "group");
    written.push(id);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "conflict") throw error;
    conflicts += 1;
  }
}
await store.close();
writeSync(1, JSON.stringify({ written, conflicts }));
