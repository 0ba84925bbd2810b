/** The stored events of a session, as an editor shows them again. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { EngineClient } from "../../../protocol/client.js";
import type { Failure } from "../../../protocol/errors.js";
import type { SessionId } from "../../../protocol/ids.js";
import { storedRange } from "../stored-range.js";
import { requestError } from "./errors.js";
import { EventUpdates } from "./event-updates.js";
import { joined } from "./update-queue.js";

const PAGE = 2000;

/** Calls `show` with the updates of each page, oldest first. */
export async function replayHistory(
  { client, session, cwd }: { readonly client: EngineClient; readonly session: SessionId; readonly cwd: string },
  show: (updates: readonly SessionUpdate[]) => Promise<void>,
): Promise<void> {
  const status = await client.query("GetStatus", {}, session);
  if (!status.ok) throw requestError(status.failure);
  const last = status.answer.last_event;
  const updates = new EventUpdates(cwd);
  for (let first = 1; first <= last; first += PAGE) {
    const before = Math.min(first + PAGE, last + 1);
    const refused = (cause: Failure) => {
      throw requestError(cause);
    };
    const page: SessionUpdate[] = [];
    for await (const event of storedRange(client, session, { first, before, refused })) page.push(...updates.of(event));
    await show(compact(page));
  }
}

/** An answer that arrived in many pieces is one message. */
function compact(updates: readonly SessionUpdate[]): readonly SessionUpdate[] {
  const out: SessionUpdate[] = [];
  for (const update of updates) {
    const last = out.at(-1);
    const both = last && joined(last, update);
    if (both === undefined) out.push(update);
    else out[out.length - 1] = both;
  }
  return out;
}
