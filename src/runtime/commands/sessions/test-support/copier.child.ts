/**
 * Copies a session into a store, and pauses at a given point until it is killed. Arguments: store (sqlite or files), folder, the number of
 * events to copy before the pause, or `finish` (the events are written, but the session is not published yet).
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import type { Envelope } from "../../../../protocol/envelope.js";
import type { SessionId } from "../../../../protocol/ids.js";
import { openFilesStore } from "../../../../sessions/files/files-store.js";
import { openSqliteStore } from "../../../../sessions/sqlite/sqlite-store.js";
import { copySession } from "../copy-session.js";
import { COPIED, copyKey, eventsOf } from "./copied-session.js";

const [kind = "", folder = "", stopAt = ""] = process.argv.slice(2);
const key = copyKey();
const store = await (kind === "sqlite"
  ? openSqliteStore({ path: join(folder, "s.db"), key })
  : openFilesStore({ folder, key }));

function stop(): Promise<never> {
  writeSync(1, "stopped\n");
  return new Promise(() => setInterval(() => {}, 60_000));
}

async function* events(session: SessionId): AsyncGenerator<Envelope> {
  for (const event of eventsOf(session)) {
    if (String(event.id) === stopAt) await stop();
    yield event;
  }
}

if (stopAt === "finish") store.publish = stop;
await copySession(store, { session: COPIED, events: events(COPIED.id), progress: () => {} });
await store.close();
