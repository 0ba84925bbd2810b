/**
 * The keyed hash chain over a session's events (feature S11).
 *
 * 1. An event's link is an HMAC over the link before it, the event's id, time, kind and originator, and the digest of its
 *    payload's JSON. Through the digest a payload may be dropped one day without breaking the chain.
 * 2. The key comes from the database's key and the names of session and log: rows of another session never fit.
 * 3. The head's seal says how long the chain is, so that one cut at its end is seen.
 *
 * Whoever has the database's key can make a new chain. A whole file put back to an earlier state is consistent in itself.
 */
import { createHmac, hash, hkdfSync } from "node:crypto";

/** 128 bits of the HMAC; there is one for every event. */
const LINK_BYTES = 16;

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

export class Chain {
  readonly #key: Buffer;

  constructor(key: Uint8Array, names: { readonly session: string; readonly log: string }) {
    const info = "oxbow session chain 1";
    this.#key = Buffer.from(hkdfSync("sha256", key, `${names.session} ${names.log}`, info, 32));
  }

  link(previous: Uint8Array, event: LinkedEvent): Buffer {
    const digest = hash("sha256", event.payload, "buffer");
    const head = JSON.stringify([event.id, event.ts, event.kind, event.originator]);
    return this.#tag("event", previous, digest, head);
  }

  seal(lastEvent: number, lastLink: Uint8Array): Buffer {
    return this.#tag("head", lastLink, String(lastEvent));
  }

  #tag(purpose: string, ...parts: readonly (string | Uint8Array)[]): Buffer {
    const hmac = createHmac("sha256", this.#key).update(`${purpose}\0`);
    // All parts but the last have a fixed length, so no two inputs run together to the same bytes.
    for (const part of parts) hmac.update(part);
    return hmac.digest().subarray(0, LINK_BYTES);
  }
}
