/** The ledgers of all sessions: which calls began and ended. */
import type { CallId, SessionId } from "../../protocol/ids.js";
import type { KnownHead } from "../known-heads.js";
import type { Conclusion, Fence, Intent } from "../store.js";
import { overtaken } from "../write-conflict.js";
import { Ledger, neverStarted } from "./ledger.js";
import { LineFile } from "./line-file.js";
import { type OpenSession, readConf } from "./open-session.js";
import type { SessionFiles } from "./session-files.js";

export interface CallLedgersOptions {
  filesOf(session: SessionId): SessionFiles;
  /** Looks through the ledgers of all sessions. */
  sessionOf(call: CallId): Promise<SessionId | undefined>;
  /** Under the session's lock: the head, once it is sure that it is the one this process left. */
  checkHead(session: SessionId, open: OpenSession): Promise<KnownHead>;
}

export class CallLedgers {
  readonly #options: CallLedgersOptions;
  /** Where calls that have not ended were begun, as far as this store has seen it. */
  readonly #calls = new Map<CallId, SessionId>();

  constructor(options: CallLedgersOptions) {
    this.#options = options;
  }

  async intend(intent: Intent, fence?: Fence): Promise<void> {
    const { call, session, mutating } = intent;
    const { writer } = this.#options.filesOf(session);
    const isNew = !this.#calls.has(call);
    if (isNew) this.#calls.set(call, session);
    try {
      await writer.add(async (open) => {
        await this.#check(open, fence);
        await open.addToLedger(call, (ledger) => ledger.intention(intent));
        return mutating ? "sync" : "group";
      });
    } catch (error) {
      if (isNew) this.#calls.delete(call);
      throw error;
    }
  }

  async conclude(call: CallId, conclusion: Conclusion, fence?: Fence): Promise<void> {
    const session = this.#calls.get(call) ?? (await this.#options.sessionOf(call));
    if (session === undefined) throw neverStarted(call);
    await this.#options.filesOf(session).writer.add(async (open) => {
      let mutating = false;
      await this.#check(open, fence);
      await open.addToLedger(call, (ledger) => {
        mutating = ledger.isMutating(call);
        return ledger.conclusion(call, conclusion);
      });
      return mutating ? "sync" : "group";
    });
    this.#calls.delete(call);
  }

  async orphans(session: SessionId): Promise<readonly Intent[]> {
    const { state, writer } = this.#options.filesOf(session);
    await writer.idle();
    await readConf(state.paths, session);
    const file = await LineFile.open(state.paths.ledger, "read");
    try {
      const ledger = new Ledger();
      await ledger.refresh(file);
      const orphans = ledger.orphans(session);
      for (const { call } of orphans) this.#calls.set(call, session);
      return orphans;
    } finally {
      await file.close();
    }
  }

  /** Under the session's lock. */
  async #check(open: OpenSession, fence: Fence | undefined): Promise<void> {
    if (fence === undefined) return;
    const { event } = await this.#options.checkHead(fence.session, open);
    if (event !== fence.head) throw overtaken(fence, event);
  }
}
