import { join } from "node:path";
import type { SessionId } from "../../protocol/ids.js";

/** Where the parts of a session are. Locks are outside its folder, because that is created and removed. */
export interface SessionPaths {
  readonly folder: string;
  readonly conf: string;
  readonly messages: string;
  readonly index: string;
  readonly events: string;
  readonly ledger: string;
  readonly snapshot: string;
  readonly lock: string;
  readonly messagesLock: string;
}

export function sessionPaths(root: string, session: SessionId, folder = join(root, session)): SessionPaths {
  return {
    folder,
    conf: join(folder, "session.conf"),
    messages: join(folder, "messages"),
    index: join(folder, "messages.jsonl"),
    events: join(folder, "events.jsonl"),
    ledger: join(folder, "ledger.jsonl"),
    snapshot: join(folder, "snapshot.json"),
    lock: join(root, ".locks", session),
    messagesLock: join(root, ".locks", `${session}.messages`),
  };
}
