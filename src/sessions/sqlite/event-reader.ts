/**
 * Reads the events of one session, in pages.
 *
 * 1. Every read checks the chain: it returns a row only when its link fits the link before it.
 * 2. A page and its blobs are of one moment; between two pages others may write.
 * 3. A page ends early when its payloads are large, which bounds the memory of a reader.
 */
import type { Envelope } from "../../protocol/envelope.js";
import type { Database } from "../../system/sqlite/database.js";
import { ChainBreak } from "../chain-break.js";
import { EVENTS_PER_SESSION } from "../log-rules.js";
import { StoreError } from "../store.js";
import { createTimestamps } from "../timestamp.js";
import type { Blobs } from "./blobs.js";
import { FIRST_LINK } from "./chain.js";
import { AT_PLACE, EVENT, type EventRow, opensTurnOrCall, placeOf } from "./event-row.js";
import { LeadingIds } from "./leading-ids.js";
import type { Names } from "./names.js";
import { decodePayload, leadingIdBytes } from "./payload.js";
import type { Head } from "./session-table.js";

export const PAGE_ROWS = 512;
const PAGE_BYTES = 256 * 1024;

/** Describes where a reader is: the event it has read last. */
export interface Position {
  readonly id: number;
  readonly link: Buffer;
}

export interface ReadEvent {
  /** As it was written, with the ids of that log; a branch gives it others (ancestors.ts). */
  readonly stored: Envelope;
  readonly row: EventRow;
  readonly json: Buffer;
}

export interface Page {
  readonly events: readonly ReadEvent[];
  readonly end: Position;
}

export interface Tables {
  readonly database: Database;
  readonly names: Names;
  readonly blobs: Blobs;
}

/** Rows that the database itself cannot make sense of are a break in the chain like any other. */
export function readable<T>(id: number, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "damaged") throw error;
    throw new ChainBreak("unreadable", id, `Oxbow cannot read the log from event ${id} on: ${error.message}`);
  }
}

export class EventReader {
  readonly #head: Head;
  readonly #database: Database;
  readonly #names: Names;
  readonly #blobs: Blobs;
  readonly #leadingIds = new LeadingIds();
  readonly #timestamp = createTimestamps();

  constructor(head: Head, { database, names, blobs }: Tables) {
    this.#head = head;
    this.#database = database;
    this.#names = names;
    this.#blobs = blobs;
  }

  /** Behind this event. */
  positionAt(id: number): Position {
    if (id === 0) return { id, link: FIRST_LINK };
    const row = readable(id, () => this.#database.first({ link: "bytes" }, AT_PLACE, [placeOf(this.#head, id)]));
    if (row === undefined) throw new ChainBreak("missing", id, `Event ${id} is missing.`);
    return { id, link: row.link };
  }

  /** Events behind `from`, one at least, none beyond `last`, and no more than `rows`. */
  page(from: Position, last: number, { rows = PAGE_ROWS }: { readonly rows?: number } = {}): Page {
    return this.#database.snapshot(() => {
      const head = this.#head;
      const bounds = [placeOf(head, from.id), placeOf(head, Math.min(last, from.id + rows))];
      const rest = "FROM events WHERE place > ? AND place <= ? ORDER BY place";
      const found = readable(from.id + 1, () => this.#database.selectMany(EVENT, rest, bounds));
      const events: ReadEvent[] = [];
      let { id, link } = from;
      let bytes = 0;
      for (const row of found) {
        id += 1;
        const event = this.#checkedEvent(row, { id, link });
        events.push(event);
        link = row.link;
        bytes += event.json.length;
        if (bytes > PAGE_BYTES) break;
      }
      if (events.length === 0) throw this.#gap(id + 1);
      return { events, end: { id, link } };
    });
  }

  /** The position gives the expected event and the link before it. */
  #checkedEvent(row: EventRow, { id, link }: Position): ReadEvent {
    const head = this.#head;
    if (row.place !== placeOf(head, id)) throw new ChainBreak("missing", id, `Event ${id} is missing.`);
    try {
      const leadingId = row.origin === undefined ? undefined : this.#leadingId(id - row.origin);
      const { json, payload } = decodePayload(row, { blob: (hash) => this.#blobs.find(hash), leadingId });
      const kind = this.#names.nameOf(row.kind);
      const originator = this.#names.nameOf(row.originator);
      const ts = head.created_at + row.since;
      const event = { id, kind, originator, ts, payload: json };
      const { chain, session } = head.ancestors.at(id);
      const intact =
        row.remains === undefined
          ? chain.link(link, event).equals(row.link)
          : chain.remains(link, row.link, event).equals(row.remains);
      if (!intact) throw new ChainBreak("changed", id, `Event ${id} was changed or moved.`);
      if (opensTurnOrCall(kind)) this.#leadingIds.add(id, json);
      const fields = { id, kind, session, originator, ts: this.#timestamp(ts), payload };
      // The link says that this is what was appended, and only envelopes are.
      return { stored: fields as unknown as Envelope, row, json };
    } catch (error) {
      if (error instanceof ChainBreak || (error instanceof StoreError && error.code !== "damaged")) throw error;
      throw new ChainBreak("unreadable", id, `Oxbow cannot read event ${id}: ${(error as Error).message}.`);
    }
  }

  /** A wrong one is found with the event that it goes into: the link covers it. */
  #leadingId(id: number): Buffer {
    const known = this.#leadingIds.at(id);
    if (known !== undefined) return known;
    const row = this.#database.first(EVENT, AT_PLACE, [placeOf(this.#head, id)]);
    if (row === undefined || row.origin !== undefined) throw new Error(`it has its id from event ${id}, which is gone`);
    const { json } = decodePayload(row, { blob: (hash) => this.#blobs.find(hash) });
    this.#leadingIds.add(id, json);
    return leadingIdBytes(json);
  }

  /** The log ends where the head says, with this link. */
  checkEnd({ link }: Position): void {
    const head = this.#head;
    const { last_event: last, chain } = head;
    if (!link.equals(head.last_link) || !chain.seal(last, link, head.expired_to).equals(head.seal)) {
      throw new ChainBreak("head", last, `The session's head does not match its last event, ${last}.`);
    }
    const id = this.#nextEvent(last);
    if (id !== undefined) throw new ChainBreak("added", id, `Event ${id} comes after the last one, ${last}.`);
  }

  /** The event is not there. */
  #gap(id: number): ChainBreak {
    if (this.#nextEvent(id) !== undefined) return new ChainBreak("missing", id, `Event ${id} is missing.`);
    return new ChainBreak("truncated", id, `The log ends before event ${id}; it had ${this.#head.last_event} events.`);
  }

  #nextEvent(after: number): number | undefined {
    const rest = "FROM events WHERE place > ? AND place <= ? ORDER BY place LIMIT 1";
    const bounds = [placeOf(this.#head, after), placeOf(this.#head, EVENTS_PER_SESSION - 1)];
    const row = readable(after, () => this.#database.first({ place: "integer" }, rest, bounds));
    return row && row.place - placeOf(this.#head, 0);
  }
}
