/**
 * The keyed hash chain over a session's events.
 *
 * 1. An event's link is a tag over the link before it, the event's id, time, kind and originator, and its payload's JSON.
 * 2. When content has expired, the link stays and the remains get their own tag, over the link before, the link, and all
 *    that the link covers, with the remains for the payload: the chain holds and the remains cannot be changed either.
 *    With a copy of the payload, the link still proves that it is the original.
 * 3. The key comes from the database's key and the names of session and log: rows of another session never fit.
 * 4. The head's seal says how long the chain is, so that one cut at its end is seen, and how much of it has expired.
 * 5. A snapshot (snapshots.ts) has a tag over its content, the link of its event and how much of the log has expired.
 *
 * Anyone with the database's key can make a new chain. A file restored to an earlier state is consistent in itself.
 */
import { hkdfSync } from "node:crypto";
import { SNAPSHOT_FORM } from "../store.js";
import { TagMaker } from "../tag-maker.js";

/** 80 bits, the least that RFC 2104 advises: there is one for every event, and a forger has no way to try one but to be seen. */
const LINK_BYTES = 10;
const SEAL_BYTES = 16;

export const FIRST_LINK: Buffer = Buffer.alloc(LINK_BYTES);

export interface LinkedEvent {
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly kind: string;
  readonly originator: string;
  /** The payload's JSON as UTF-8. */
  readonly payload: Uint8Array;
}

/** An event and its link. */
interface ChainEnd {
  readonly id: number;
  readonly link: Uint8Array;
}

export class Chain {
  readonly #tags: TagMaker;

  constructor(key: Uint8Array, names: { readonly session: string; readonly log: string }) {
    const info = "oxbow session chain 1";
    this.#tags = new TagMaker(Buffer.from(hkdfSync("sha256", key, `${names.session} ${names.log}`, info, 32)));
  }

  // In each of these all parts but the last have a fixed length or say themselves where they end, so no two inputs run together
  // to the same bytes.

  link(previous: Uint8Array, event: LinkedEvent): Buffer {
    return this.#tags.make("event\0", previous, metadata(event), event.payload).subarray(0, LINK_BYTES);
  }

  /** Of an event whose link is known and whose payload is what remains. */
  remains(previous: Uint8Array, link: Uint8Array, event: LinkedEvent): Buffer {
    return this.#tags.make("remains\0", previous, link, metadata(event), event.payload).subarray(0, LINK_BYTES);
  }

  seal(lastEvent: number, lastLink: Uint8Array, expiredTo: number): Buffer {
    return this.#tags.make("head\0", lastLink, `${lastEvent} ${expiredTo}`).subarray(0, SEAL_BYTES);
  }

  snapshot(end: ChainEnd, expiredTo: number, body: Uint8Array): Buffer {
    return this.#tags.make(`${SNAPSHOT_FORM}\0`, end.link, `${end.id} ${expiredTo}\0`, body).subarray(0, SEAL_BYTES);
  }
}

/** With the lengths of the two names it says itself where they end. */
function metadata({ id, ts, kind, originator }: LinkedEvent): string {
  return `${id} ${ts} ${kind.length} ${originator.length} ${kind}${originator}`;
}
