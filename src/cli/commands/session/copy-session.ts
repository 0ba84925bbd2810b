/** Writes a whole session, from a branch or an import, in pieces that bound the memory. It is built aside: a kill leaves nothing of it. */
import type { Envelope } from "../../../protocol/envelope.js";
import { condenseSession } from "../../../sessions/condense.js";
import type { NewSession } from "../../../sessions/store.js";
import { StatusLine } from "../../status-line.js";
import type { OpenSessions } from "./open-sessions.js";

const PIECE = 500;

export interface Copy {
  readonly session: NewSession;
  readonly events: AsyncIterable<Envelope>;
  /** What else belongs to it, before anybody sees it. */
  readonly finish?: () => Promise<void>;
}

export async function copySession(sessions: Pick<OpenSessions, "store" | "terminal">, copy: Copy): Promise<number> {
  const lease = await sessions.store.lease(copy.session.id);
  try {
    return await build(sessions, copy);
  } finally {
    await lease.release();
  }
}

/** All of it or nothing: a copy that fails on the way is taken back. */
async function build(
  { store, terminal }: Pick<OpenSessions, "store" | "terminal">,
  { session, events, finish }: Copy,
): Promise<number> {
  await store.create(session, { draft: true });
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
    await finish?.();
    await store.publish(session.id);
  } catch (error) {
    await writing.catch(() => {});
    await store.remove(session.id);
    throw error;
  } finally {
    status.clear();
  }
  return count;
}
