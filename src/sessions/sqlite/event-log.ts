/**
 * The log of a session: what is written to the rows of `events`, and how it is read and checked from end to end.
 *
 * 1. Content that is to expire is checked first: what was changed before is not made good by it.
 * 2. The id of a turn or call is spelt out by the event that opens it (payload.ts, 3).
 */
import type { Envelope } from "../../protocol/envelope.js";
import { asVerification, ChainBreak } from "../chain-break.js";
import { withoutContent } from "../expired.js";
import { EVENTS_PER_SESSION, isEventId, type PreparedEvent } from "../log-rules.js";
import type { EventRange, Verification } from "../store.js";
import { EventReader, PAGE_ROWS, type ReadEvent, readable, type Tables } from "./event-reader.js";
import { AT_PLACE, type EventRow, opensTurnOrCall, placeOf } from "./event-row.js";
import { LeadingIds } from "./leading-ids.js";
import { encode, leadingIdOf, type PreparedPayload, withoutLeadingId } from "./payload.js";
import type { Head } from "./session-table.js";

/** Sessions whose last ids are remembered; one that was forgotten spells out its next ones. */
const WRITTEN_MOST = 256;

/** An event in its stored form. */
export interface StoredEvent extends PreparedEvent {
  readonly payload: PreparedPayload;
}

export class EventLog {
  readonly #tables: Tables;
  /** Of the sessions that are being written. */
  readonly #written = new Map<number, LeadingIds>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** A transaction was undone: what was learnt in it is not in the database. */
  forget(): void {
    this.#written.clear();
  }

  /** Inside a transaction; answers with the last link. */
  insert(head: Head, events: readonly StoredEvent[]): Buffer {
    const { names, blobs: blobTable } = this.#tables;
    let link = head.last_link;
    for (const event of events) {
      const place = placeOf(head, event.id);
      const { json, rest, holes, blobs } = event.payload;
      const origin = this.#originOf(head, event);
      const encoded = encode(origin === undefined ? rest : withoutLeadingId(rest));
      link = head.chain.link(link, { ...event, ts: event.at, payload: json });
      const kind = names.numberOf(event.kind);
      const originator = names.numberOf(event.originator);
      const since = event.at - head.created_at;
      this.#insertRow({ place, kind, originator, since, ...encoded, origin, holes, remains: undefined, link });
      for (const blob of blobs) blobTable.use(blob, place);
    }
    return link;
  }

  /** Inside a transaction: a new session gets the first events of another one, as they are stored. */
  copy(from: Head, to: Head, last: number): { readonly lastLink: Buffer; readonly ts: number } {
    const { database } = this.#tables;
    const shift = placeOf(to, 0) - placeOf(from, 0);
    const bounds = [placeOf(from, 0), placeOf(from, last)];
    database.run(
      `INSERT INTO events (place, kind, originator, since, encoding, origin, body, holes, remains, link)
       SELECT place + ?, kind, originator, since + ?, encoding, origin, body, holes, remains, link
       FROM events WHERE place > ? AND place <= ?`,
      [shift, from.created_at - to.created_at, ...bounds],
    );
    database.run(
      "INSERT INTO blob_uses (blob, place) SELECT blob, place + ? FROM blob_uses WHERE place > ? AND place <= ?",
      [shift, ...bounds],
    );
    const end = database.first({ since: "integer", link: "bytes" }, AT_PLACE, [placeOf(to, last)]);
    if (end === undefined) throw new ChainBreak("missing", last, `Event ${last} is missing.`);
    return { lastLink: end.link, ts: to.created_at + end.since };
  }

  /** A turn ends with this event. */
  endsTurn(head: Head, id: number): boolean {
    const { database, names } = this.#tables;
    const row = isEventId(id) ? database.first({ kind: "integer" }, AT_PLACE, [placeOf(head, id)]) : undefined;
    return id <= head.last_event && row !== undefined && row.kind === names.find("TurnEnded");
  }

  /** One batch of events at a time. */
  *read(head: Head, { after = 0, limit = Number.POSITIVE_INFINITY }: EventRange): Generator<Envelope[]> {
    const last = Math.min(head.last_event, after + limit);
    if (last <= after) return;
    const reader = new EventReader(head, this.#tables);
    let rows = PAGE_ROWS;
    let from = reader.positionAt(after);
    while (from.id < last) {
      const { events, end } = reader.page(from, last, { rows });
      yield events.map(({ stored }) => head.ancestors.adopted(stored));
      // Rows beyond a page that ended early were wasted; the next ones are likely to be as large.
      rows = Math.min(PAGE_ROWS, events.length * 2);
      from = end;
    }
  }

  /** The last event of a kind. Only that one is checked: an event whose kind was changed is not found here. */
  last(head: Head, kind: string): number | undefined {
    const { database, names } = this.#tables;
    const number = names.find(kind);
    if (number === undefined) return undefined;
    const rest = "FROM events WHERE place > ? AND place <= ? AND kind = ? ORDER BY place DESC LIMIT 1";
    const bounds = [placeOf(head, 0), placeOf(head, head.last_event), number];
    const found = readable(head.last_event, () => database.first({ place: "integer" }, rest, bounds));
    if (found === undefined) return undefined;
    const id = found.place - placeOf(head, 0);
    const reader = new EventReader(head, this.#tables);
    reader.page(reader.positionAt(id - 1), id);
    return id;
  }

  count(head: Head, kind: string): number {
    const { database, names } = this.#tables;
    const number = names.find(kind);
    if (number === undefined) return 0;
    const bounds = [placeOf(head, 0), placeOf(head, head.last_event), number];
    return database.select({ place: "integer" }, "FROM events WHERE place > ? AND place <= ? AND kind = ?", bounds)
      .length;
  }

  /** A page at a time; returns the result. `headNow` gives the head of the moment: others may append meanwhile. */
  *verify(headNow: () => Head): Generator<void, Verification> {
    try {
      let head = headNow();
      let reader = new EventReader(head, this.#tables);
      let from = reader.positionAt(0);
      const isWhole = () => {
        head = headNow();
        reader = new EventReader(head, this.#tables);
        if (from.id < head.last_event) return false;
        reader.checkEnd(from);
        return true;
      };
      for (;;) {
        while (from.id < head.last_event) {
          from = reader.page(from, head.last_event).end;
          yield;
        }
        if (this.#tables.database.snapshot(isWhole)) return { ok: true, events: head.last_event };
      }
    } catch (error) {
      return asVerification(error);
    }
  }

  /** Inside a transaction: one page of events, none beyond `last`, loses its content; answers with the last of them. */
  expire(head: Head, last: number): { readonly id: number; readonly ts: number } {
    const { database, blobs } = this.#tables;
    const reader = new EventReader(head, this.#tables);
    const from = reader.positionAt(head.expired_to);
    const { events, end } = reader.page(from, last);
    // Rows that shrink in their places would leave the pages of the file half empty.
    const places = [placeOf(head, from.id), placeOf(head, end.id)];
    database.run("DELETE FROM events WHERE place > ? AND place <= ?", places);
    let { link } = from;
    let since = 0;
    for (const event of events) {
      const { row } = event;
      const remaining = remainsOf(head, event, link);
      this.#insertRow(remaining);
      if (row.holes !== undefined && remaining.holes === undefined) {
        blobs.drop({ first: row.place, last: row.place });
      }
      ({ link, since } = row);
    }
    return { id: end.id, ts: head.created_at + since };
  }

  delete(head: Head): void {
    const { database, blobs } = this.#tables;
    const bounds = { first: placeOf(head, 0), last: placeOf(head, EVENTS_PER_SESSION - 1) };
    blobs.drop(bounds);
    database.run("DELETE FROM events WHERE place BETWEEN ? AND ?", [bounds.first, bounds.last]);
    this.#written.delete(head.number);
  }

  #insertRow(row: EventRow): void {
    const { place, kind, originator, since, encoding, origin = null, body, holes = null, remains = null, link } = row;
    this.#tables.database.run(
      `INSERT INTO events (place, kind, originator, since, encoding, origin, body, holes, remains, link)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [place, kind, originator, since, encoding, origin, body, holes, remains, link],
    );
  }

  /** Tells how far back the event stands that spells out the id which this payload begins with, if another one does. */
  #originOf(head: Head, { id, kind, payload: { rest } }: StoredEvent): number | undefined {
    const name = leadingIdOf(rest);
    if (name === undefined) return undefined;
    let written = this.#written.get(head.number);
    if (written === undefined) {
      if (this.#written.size >= WRITTEN_MOST) this.#written.clear();
      written = new LeadingIds();
      this.#written.set(head.number, written);
    }
    const origin = written.find(name);
    if (origin !== undefined) return id - origin;
    if (opensTurnOrCall(kind)) written.add(id, rest);
    return undefined;
  }
}

/** The row without its content, or unchanged if it has none. `previous` is the link before it. */
function remainsOf(head: Head, { row, stored, json }: ReadEvent, previous: Buffer): EventRow {
  if (row.remains !== undefined) return row;
  const payload = Buffer.from(JSON.stringify(withoutContent(stored).payload));
  if (payload.equals(json)) return row;
  const { id, kind, originator } = stored;
  const event = { id, kind, originator, ts: head.created_at + row.since, payload };
  const remains = head.ancestors.at(id).chain.remains(previous, row.link, event);
  // The omitted id is usually still the first one of the remains.
  const origin = leadingIdOf(payload) === leadingIdOf(json) ? row.origin : undefined;
  const encoded = encode(origin === undefined ? payload : withoutLeadingId(payload));
  return { ...row, ...encoded, origin, holes: undefined, remains };
}
