/** Condensed logs (sessions/condense.ts) in the database. */
import type { SessionId } from "../../protocol/ids.js";
import type { Database } from "../../system/sqlite/database.js";
import type { CondensedLog, Stretch } from "../store.js";
import type { CommitQueue } from "./commit-queue.js";
import type { SessionTable } from "./session-table.js";
import type { Stretches } from "./stretches.js";

export interface CondensedTableParts {
  readonly database: Database;
  readonly queue: CommitQueue;
  readonly sessions: SessionTable;
  readonly stretches: Stretches;
}

export class CondensedTable implements CondensedLog {
  readonly #parts: CondensedTableParts;

  constructor(parts: CondensedTableParts) {
    this.#parts = parts;
  }

  async end(session: SessionId): Promise<number | undefined> {
    const { queue, sessions, stretches } = this.#parts;
    queue.flush();
    return stretches.end(sessions.head(session));
  }

  async read(session: SessionId): Promise<readonly Stretch[]> {
    const { database, queue, sessions, stretches } = this.#parts;
    queue.flush();
    const found = database.snapshot(() => stretches.read(sessions.head(session)));
    if (found !== undefined) return found;
    await this.#discard(session);
    return [];
  }

  async add(session: SessionId, stretch: Stretch): Promise<void> {
    const { queue, sessions, stretches } = this.#parts;
    // In its own commit, so that its failure affects no event.
    queue.flush();
    const added = queue.add("group", () => stretches.addition(sessions.head(session), stretch));
    queue.flush();
    await added;
  }

  /** Stretches that cannot be removed now are rejected again the next time. */
  async #discard(session: SessionId): Promise<void> {
    const { queue, sessions, stretches } = this.#parts;
    const discarded = queue.add("group", () => {
      const head = sessions.head(session);
      return () => stretches.delete(head);
    });
    queue.flush();
    await discarded.catch(() => {});
  }
}
