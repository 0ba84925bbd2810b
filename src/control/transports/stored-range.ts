import type { EngineClient } from "../../protocol/client.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { Failure } from "../../protocol/errors.js";
import type { SessionId } from "../../protocol/ids.js";

export interface StoredRange {
  /** The first event, and the one behind the last. */
  readonly first: number;
  readonly before: number;
  /** Called if the log cannot be read. */
  readonly refused?: (cause: Failure) => void;
}

/** Reads events of a log, the oldest first. An answer with long texts leaves out the oldest ones, so shorter ranges are asked for then. */
export async function* storedRange(
  client: EngineClient,
  session: SessionId,
  { first, before, refused }: StoredRange,
): AsyncGenerator<Envelope> {
  if (first >= before) return;
  const reply = await client.query("ListEvents", { before, limit: before - first }, session);
  if (!reply.ok) return refused?.(reply.failure);
  const { events } = reply.answer;
  if ((events[0]?.id ?? first) <= first) {
    yield* events;
    return;
  }
  const middle = first + Math.ceil((before - first) / 2);
  yield* storedRange(client, session, { first, before: middle, ...(refused && { refused }) });
  yield* storedRange(client, session, { first: middle, before, ...(refused && { refused }) });
}
