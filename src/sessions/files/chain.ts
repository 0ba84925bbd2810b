/**
 * The hash chain over a session's events.
 *
 * 1. An event's link is a tag over the link before it, the digest of its payload's JSON, and its id, time, kind and
 *    originator. Through the digest a payload may be dropped one day without breaking the chain; what is left of it then
 *    has a tag of its own.
 * 2. With a key, tags are HMACs under a key made of it and the names of session and log: lines of another session never fit,
 *    and one cannot be made without the key. Without a key they are plain SHA-256 over the same: they detect damage and edits by hand,
 *    but no forgery.
 * 3. The seal says how long the chain was at least, so that a chain cut at its end is detected.
 *
 * A whole folder in an earlier state is consistent, so that is not detected.
 */
import { hash, hkdfSync } from "node:crypto";
import { SNAPSHOT_FORM } from "../store.js";
import { TagMaker } from "../tag-maker.js";

/** 128 bits; there is one tag for every event. */
const TAG_BYTES = 16;

export const FIRST_LINK: string = "0".repeat(2 * TAG_BYTES);

export interface LinkedEvent {
  readonly id: number;
  readonly ts: string;
  readonly kind: string;
  readonly originator: string;
  /** SHA-256 of the payload's JSON, in hexadecimal digits. */
  readonly digest: string;
}

export class Chain {
  readonly #tags: TagMaker | undefined;
  readonly #names: string;

  constructor(key: Uint8Array | undefined, names: { readonly session: string; readonly log: string }) {
    this.#names = `${names.session} ${names.log}`;
    this.#tags = key && new TagMaker(Buffer.from(hkdfSync("sha256", key, this.#names, "oxbow session files 1", 32)));
  }

  /** Whether a session was written with this key, or without one like this chain. */
  get fingerprint(): string {
    return this.#tag("key", this.#names);
  }

  link(previous: string, { id, ts, kind, originator, digest }: LinkedEvent): string {
    return this.#tag("event", previous, digest, JSON.stringify([id, ts, kind, originator]));
  }

  /** For the rest of an event whose content has expired. */
  remains(link: string, digest: string): string {
    return this.#tag("remains", link, digest);
  }

  seal(lastEvent: number, lastLink: string): string {
    return this.#tag("head", lastLink, String(lastEvent));
  }

  /** For the conversation up to an event; `content` is JSON. */
  snapshot(
    end: { readonly event: number; readonly link: string; readonly expired_to: number },
    content: string,
  ): string {
    return this.#tag(SNAPSHOT_FORM, end.link, `${end.event} ${end.expired_to} ${content}`);
  }

  #tag(purpose: string, ...parts: readonly string[]): string {
    // All parts but the last have a fixed length, so no two inputs run together to the same bytes.
    const text = `\0${purpose}\0${parts.join("")}`;
    const tag = this.#tags?.make(text).toString("hex") ?? digestOf(`${this.#names}${text}`);
    return tag.slice(0, 2 * TAG_BYTES);
  }
}

/** SHA-256 in hexadecimal digits; of a text, of its UTF-8. */
export function digestOf(content: string | Uint8Array): string {
  return hash("sha256", content, "hex");
}
