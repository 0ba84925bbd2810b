/**
 * The end of each leased session's log as this process left it. Event ids alone do not distinguish two histories of the same length;
 * the link of the last event in its hash chain does. Nothing is checked for sessions that this process has not leased.
 */
import type { SessionId } from "../protocol/ids.js";
import type { SessionLeases } from "./lease.js";
import { type Lease, StoreError } from "./store.js";

export interface KnownHead {
  readonly event: number;
  /** The last event's link, in the form the store keeps it. */
  readonly link: string;
}

export class KnownHeads {
  readonly #committed = new Map<SessionId, KnownHead>();
  /** The heads of the running commit. */
  readonly #moved = new Map<SessionId, KnownHead>();

  /** The session is leased, and its log ends here. */
  learn(session: SessionId, head: KnownHead): void {
    this.#committed.set(session, head);
  }

  forget(session: SessionId): void {
    this.#committed.delete(session);
    this.#moved.delete(session);
  }

  /** Within a commit: the log ends where this process left it. A conflict stays one: the log never gets its old end back. */
  check(session: SessionId, found: KnownHead): void {
    const known = this.#moved.get(session) ?? this.#committed.get(session);
    if (known === undefined || (known.event === found.event && known.link === found.link)) return;
    throw new StoreError(
      "conflict",
      `The log of ${session} ends with event ${found.event} of another process; this one knows it up to event ${known.event}.`,
    );
  }

  move(session: SessionId, head: KnownHead): void {
    if (this.#committed.has(session)) this.#moved.set(session, head);
  }

  commit(): void {
    for (const [session, head] of this.#moved) this.#committed.set(session, head);
    this.#moved.clear();
  }

  rollBack(): void {
    this.#moved.clear();
  }
}

/** Leases the session; `learn` then tells `known` where its log ends. */
export async function leaseWithHead(
  session: SessionId,
  {
    leases,
    known,
    learn,
  }: {
    readonly leases: SessionLeases;
    readonly known: KnownHeads;
    readonly learn: () => Promise<void> | void;
  },
): Promise<Lease> {
  const lease = await leases.take(session);
  try {
    await learn();
  } catch (error) {
    await lease.release();
    throw error;
  }
  return {
    release: async () => {
      known.forget(session);
      await lease.release();
    },
  };
}
