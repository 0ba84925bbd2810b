/** The ends of the logs that this process may continue: each commit checks that the end is the one that this process left. */
import type { SessionId } from "../../protocol/ids.js";
import { type KnownHead, KnownHeads, leaseWithHead } from "../known-heads.js";
import type { SessionLeases } from "../lease.js";
import type { Fence, Lease } from "../store.js";
import { overtaken } from "../write-conflict.js";
import { FIRST_LINK } from "./chain.js";
import type { Head, SessionTable } from "./session-table.js";

export class SessionHeads {
  readonly #sessions: SessionTable;
  readonly #leases: SessionLeases;
  readonly #known = new KnownHeads();

  constructor(sessions: SessionTable, leases: SessionLeases) {
    this.#sessions = sessions;
    this.#leases = leases;
  }

  /** `commit` runs the given step in one commit of the database. */
  lease(session: SessionId, commit: (learn: () => void) => void): Promise<Lease> {
    const learn = () => commit(() => this.#learn(session));
    return leaseWithHead(session, { leases: this.#leases, known: this.#known, learn });
  }

  /** Within a commit: the head, once it is sure that it is the one this process left. */
  checked(session: SessionId): Head {
    this.#leases.check(session);
    const head = this.#sessions.head(session);
    this.#known.check(session, knownHead(head));
    return head;
  }

  /** Within a commit. */
  check(fence: Fence | undefined): void {
    if (fence === undefined) return;
    const { last_event } = this.checked(fence.session);
    if (last_event !== fence.head) throw overtaken(fence, last_event);
  }

  move(session: SessionId, event: number, link: Buffer): void {
    this.#known.move(session, { event, link: link.toString("hex") });
  }

  commit(): void {
    this.#known.commit();
  }

  rollBack(): void {
    this.#known.rollBack();
  }

  #learn(session: SessionId): void {
    const isThere = this.#sessions.find(session) !== undefined;
    const head = isThere ? knownHead(this.#sessions.head(session)) : { event: 0, link: FIRST_LINK.toString("hex") };
    this.#known.learn(session, head);
  }
}

function knownHead({ last_event, last_link }: Head): KnownHead {
  return { event: last_event, link: last_link.toString("hex") };
}
