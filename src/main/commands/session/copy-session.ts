/** Writes a whole session, from a branch or an import, in pieces that bound the memory. */
import type { Envelope } from "../../../protocol/envelope.js";
import { condenseSession } from "../../../sessions/condense.js";
import type { NewSession } from "../../../sessions/store.js";
import { StatusLine } from "../../status-line.js";
import type { OpenSessions } from "./open-sessions.js";

const PIECE = 500;

/** All of it or nothing: a copy that fails on the way is taken back. */
export async function copySession(
  { store, terminal }: Pick<OpenSessions, "store" | "terminal">,
  session: NewSession,
  events: AsyncIterable<Envelope>,
): Promise<number> {
  await store.create(session);
  const status = new StatusLine(terminal);
  let count = 0;
  let piece: Envelope[] = [];
  let writing: Promise<void> = Promise.resolve();
  const write = async (durability: "group" | "sync") => {
    await writing;
    count += piece.length;
    writing = store.append(session.id, piece, durability, { copied: true });
    // The next piece is read while this one is written; what fails is heard of before that one is.
    writing.catch(() => {});
    piece = [];
    status.show(`${count} events`);
  };
  try {
    for await (const event of events) {
      piece.push(event);
      if (piece.length === PIECE) await write("group");
    }
    await write("sync");
    await writing;
    await condenseSession(store, session.id);
  } catch (error) {
    await writing.catch(() => {});
    await store.remove(session.id);
    throw error;
  } finally {
    status.clear();
  }
  return count;
}
