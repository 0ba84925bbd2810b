/**
 * Writes a whole session, from an import, in pieces to limit memory. It is invisible until it is complete, so a kill leaves
 * no partial session.
 */
import type { Envelope } from "../../../protocol/envelope.js";
import { takeSnapshot } from "../../../sessions/snapshot.js";
import type { NewSession, SessionStore } from "../../../sessions/store.js";

const PIECE = 500;

export interface Copy {
  readonly session: NewSession;
  readonly events: AsyncIterable<Envelope>;
  progress(message: string): void;
}

export async function copySession(store: SessionStore, copy: Copy): Promise<number> {
  const lease = await store.lease(copy.session.id);
  try {
    return await build(store, copy);
  } finally {
    await lease.release();
  }
}

/** All or nothing: a failed copy is removed. */
async function build(store: SessionStore, { session, events, progress }: Copy): Promise<number> {
  await store.create(session, { draft: true });
  let count = 0;
  let piece: Envelope[] = [];
  let writing: Promise<void> = Promise.resolve();
  const write = async (durability: "group" | "sync") => {
    await writing;
    count += piece.length;
    writing = store.append(session.id, piece, durability, { copied: true });
    // The next piece is read while this one is written; a write error is reported before the next write.
    writing.catch(() => {});
    piece = [];
    progress(`${count} events`);
  };
  try {
    for await (const event of events) {
      piece.push(event);
      if (piece.length === PIECE) await write("group");
    }
    await write("sync");
    await writing;
    await takeSnapshot(store, session.id);
    await store.publish(session.id);
  } catch (error) {
    await writing.catch(() => {});
    await store.remove(session.id);
    throw error;
  }
  return count;
}
