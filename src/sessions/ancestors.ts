/**
 * The logs that the first events of a branch were written to.
 *
 * 1. A branch takes over the stored form of another session's events, with their links. So they are checked with the chain of the
 *    log that they were written to, and get the ids of the branch when they are read (branch.ts).
 * 2. A branch of a branch has events of several logs, the oldest first.
 * 3. After that a branch stands alone: its source may lose its content or be removed.
 */
import type { Envelope } from "../protocol/envelope.js";
import { type SessionIds, withNewIds } from "./branch.js";

export interface Ancestor extends SessionIds {
  /** The last event that was written to this log; the next ones belong to the next log. */
  readonly last: number;
}

export class Ancestors<Chain> {
  readonly #logs: readonly (Ancestor & { readonly chain: Chain })[];

  /** `before` is empty for a session that is not a branch. */
  constructor(
    own: SessionIds & { readonly chain: Chain },
    before: readonly Ancestor[],
    chainOf: (of: Ancestor) => Chain,
  ) {
    const older = before.map((log) => ({ ...log, chain: chainOf(log) }));
    this.#logs = [...older, { ...own, last: Number.POSITIVE_INFINITY }];
  }

  /** The log that an event was written to, and its chain. */
  at(event: number): SessionIds & { readonly chain: Chain } {
    // The last one reaches to infinity.
    return this.#logs[this.#indexOf(event)] as Ancestor & { readonly chain: Chain };
  }

  /** The event as it is in the branch. */
  adopted(stored: Envelope): Envelope {
    let event = stored;
    for (const log of this.#logs.slice(this.#indexOf(stored.id) + 1)) event = withNewIds(event, log);
    return event;
  }

  /** The ancestors of a branch that is cut after this event. */
  ofBranchAt(event: number): Ancestor[] {
    return this.#logs
      .slice(0, this.#indexOf(event) + 1)
      .map(({ session, log, last }) => ({ session, log, last: Math.min(last, event) }));
  }

  #indexOf(event: number): number {
    return this.#logs.findIndex(({ last }) => event <= last);
  }
}
