/** Commits the beginnings and ends of calls. What belongs to a call that changes something is on the disk before its caller continues. */
import type { CallId, SessionId } from "../../protocol/ids.js";
import type { Database } from "../../system/sqlite/database.js";
import type { Conclusion, Fence, Intent } from "../store.js";
import type { CommitQueue } from "./commit-queue.js";
import type { Ledger } from "./ledger.js";
import type { SessionHeads } from "./session-heads.js";
import type { SessionTable } from "./session-table.js";

export interface CallCommitsOptions {
  readonly database: Database;
  readonly queue: CommitQueue;
  readonly sessions: SessionTable;
  readonly ledger: Ledger;
  readonly heads: SessionHeads;
}

export class CallCommits {
  readonly #options: CallCommitsOptions;
  /** Calls that change something, begun here and not ended. */
  readonly #changing = new Set<CallId>();

  constructor(options: CallCommitsOptions) {
    this.#options = options;
  }

  async intend(intent: Intent, fence?: Fence): Promise<void> {
    const { database, queue, sessions, ledger, heads } = this.#options;
    const written = queue.add("group", () => {
      heads.check(fence);
      ledger.intention(sessions.head(intent.session), intent);
      return undefined;
    });
    if (!intent.mutating) return written;
    this.#changing.add(intent.call);
    // The caller may get ready meanwhile: it must only not begin before this is on the disk.
    queue.flush();
    await written;
    await database.syncLog();
  }

  async conclude(call: CallId, conclusion: Conclusion, fence?: Fence): Promise<void> {
    const { database, queue, ledger, heads } = this.#options;
    // The intent may still be waiting for its group; then it is not a mutating one.
    const isMutating = this.#changing.delete(call) || ledger.isMutating(call);
    const written = queue.add("group", () => {
      heads.check(fence);
      ledger.conclusion(call, conclusion);
      return undefined;
    });
    if (!isMutating) return written;
    // No caller waits for it: the model receives the result first, and the next call commits it too.
    await written;
    await database.syncLog();
  }

  async orphans(session: SessionId): Promise<readonly Intent[]> {
    const { queue, sessions, ledger } = this.#options;
    queue.flush();
    return ledger.orphans(sessions.head(session));
  }
}
