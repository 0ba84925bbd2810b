/** The ends of the logs that this process has leased: each write checks that the end is the one that this process left. */
import type { SessionId } from "../../protocol/ids.js";
import { type KnownHead, KnownHeads, leaseWithHead } from "../known-heads.js";
import type { SessionLeases } from "../lease.js";
import type { Lease } from "../store.js";
import { NO_EVENTS } from "./event-log.js";
import type { OpenSession } from "./open-session.js";
import type { SessionCatalog } from "./session-catalog.js";
import type { SessionFiles } from "./session-files.js";

export class LeasedHeads {
  readonly #catalog: SessionCatalog;
  readonly #leases: SessionLeases;
  readonly #known = new KnownHeads();

  constructor(catalog: SessionCatalog, leases: SessionLeases) {
    this.#catalog = catalog;
    this.#leases = leases;
  }

  holder(session: SessionId) {
    return this.#leases.holder(session);
  }

  lease(session: SessionId, writer: SessionFiles["writer"]): Promise<Lease> {
    const learn = () =>
      writer.add(async (open) => {
        const isThere = (await this.#catalog.find(session)) !== undefined;
        this.#known.learn(session, isThere ? await open.head() : { event: 0, link: NO_EVENTS.link });
        return "group";
      });
    return leaseWithHead(session, { leases: this.#leases, known: this.#known, learn });
  }

  /** Under the session's lock: the head, once it is sure that it is the one this process left. */
  async check(session: SessionId, open: OpenSession): Promise<KnownHead> {
    this.#leases.check(session);
    const head = await open.head();
    this.#known.check(session, head);
    return head;
  }

  /** Under the session's lock, after an append. */
  async move(session: SessionId, open: OpenSession): Promise<void> {
    this.#known.move(session, await open.head());
    this.#known.commit();
  }
}
