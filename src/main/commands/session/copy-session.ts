/** Writes a whole session, from a branch or an import, in pieces that bound the memory. */
import type { Envelope } from "../../../protocol/envelope.js";
import type { NewSession, SessionStore } from "../../../sessions/store.js";

const PIECE = 500;

/** All of it or nothing: a copy that fails on the way is taken back. */
export async function copySession(
  store: SessionStore,
  session: NewSession,
  events: AsyncIterable<Envelope>,
): Promise<number> {
  await store.create(session);
  let count = 0;
  let piece: Envelope[] = [];
  const write = async (durability: "group" | "sync") => {
    count += piece.length;
    await store.append(session.id, piece, durability, { copied: true });
    piece = [];
  };
  try {
    for await (const event of events) {
      piece.push(event);
      if (piece.length === PIECE) await write("group");
    }
    await write("sync");
  } catch (error) {
    await store.remove(session.id);
    throw error;
  }
  return count;
}
