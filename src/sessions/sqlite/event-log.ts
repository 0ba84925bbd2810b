/**
 * The rows of `events`, `names` and `blobs`.
 *
 * 1. A row is handed on only when its link fits the link before it: whoever reads, checks.
 * 2. A blob lives as long as an event uses it.
 */
import type { Envelope } from "../../protocol/envelope.js";
import type { ClientId, SessionId } from "../../protocol/ids.js";
import { type EventRange, type LogProblem, StoreError, type Verification } from "../store.js";
import { FIRST_LINK } from "./chain.js";
import type { Database, Row } from "./database.js";
import { type Blob, decodePayload, type EncodedPayload, encodePayload } from "./payload.js";
import type { Head } from "./session-table.js";
import { toMilliseconds, toTimestamp } from "./timestamp.js";

/** `place` = session number × this + event id; with 2^23 sessions the product stays exact. */
const EVENTS_PER_SESSION = 2 ** 30;
const PAGE_ROWS = 256;
/** A page ends early when its bodies are large, which bounds the memory of a reader. */
const PAGE_BYTES = 1024 * 1024;

const EVENT = {
  place: "integer",
  kind: ["text", "kinds.name"],
  originator: ["text", "originators.name"],
  ts: "integer",
  encoding: "integer",
  body: "bytes",
  holes: "bytes?",
  link: "bytes",
} as const;

const FROM_EVENTS = `FROM events
  LEFT JOIN names AS kinds ON kinds.number = events.kind
  LEFT JOIN names AS originators ON originators.number = events.originator`;

const AT_PLACE = "FROM events WHERE place = ?";

/** An event in its stored form, made when it is appended and not when it is committed: the caller may change its objects. */
export interface PreparedEvent {
  readonly id: number;
  readonly ts: number;
  readonly kind: string;
  readonly originator: string;
  readonly payload: EncodedPayload;
}

export function prepareEvent(session: SessionId, event: Envelope): PreparedEvent {
  if (event.session !== session) {
    throw new StoreError("invalid", `Event ${event.id} belongs to ${event.session}, not to ${session}.`);
  }
  if (!Number.isInteger(event.id) || event.id < 1 || event.id >= EVENTS_PER_SESSION) {
    throw new StoreError("invalid", `${event.id} is not an event id.`);
  }
  try {
    const { id, kind, originator } = event;
    return { id, kind, originator, ts: toMilliseconds(event.ts), payload: encodePayload(event.payload) };
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    const detail = (cause as Error).message;
    throw new StoreError("invalid", `The payload of event ${event.id} cannot be stored: ${detail}.`, { cause });
  }
}

/** Found while walking the chain; `verify` reports it, readers throw it. */
class ChainBreak extends Error {
  readonly problem: LogProblem;
  readonly event: number;

  constructor(problem: LogProblem, event: number, message: string) {
    super(message);
    this.problem = problem;
    this.event = event;
  }
}

export class EventLog {
  readonly #database: Database;
  readonly #names = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Names that were learnt in a transaction that was undone are not in the database. */
  forgetNames(): void {
    this.#names.clear();
  }

  /** Inside a transaction; answers with the last link. */
  insert(head: Head, events: readonly PreparedEvent[]): Buffer {
    let link = head.last_link;
    for (const event of events) {
      const place = placeOf(head, event.id);
      const { encoding, body, holes = null, blobs, json } = event.payload;
      link = head.chain.link(link, { ...event, payload: json });
      this.#database.run(
        "INSERT INTO events (place, kind, originator, ts, encoding, body, holes, link) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [place, this.#name(event.kind), this.#name(event.originator), event.ts, encoding, body, holes, link],
      );
      for (const blob of blobs) this.#use(blob, place);
    }
    return link;
  }

  /** One batch of events at a time; between two of them others may write. */
  *read(head: Head, { after = 0, limit = Number.POSITIVE_INFINITY }: EventRange): Generator<Envelope[]> {
    const last = Math.min(head.last_event, after + limit);
    if (last <= after) return;
    let from = { id: after, link: this.#linkAt(head, after) };
    while (from.id < last) {
      const { events, end } = this.#readPage(head, from, last);
      yield events;
      from = end;
    }
  }

  verify(head: Head): Verification {
    try {
      let from = { id: 0, link: FIRST_LINK };
      while (from.id < head.last_event) from = this.#readPage(head, from, head.last_event).end;
      this.#checkHead(head, from.link);
      return { ok: true, events: head.last_event };
    } catch (error) {
      if (!(error instanceof ChainBreak)) throw error;
      return { ok: false, problem: error.problem, event_id: error.event, message: error.message };
    }
  }

  delete(head: Head): void {
    const bounds = [placeOf(head, 0), placeOf(head, EVENTS_PER_SESSION - 1)];
    const uses = "FROM blob_uses WHERE place BETWEEN ? AND ? GROUP BY blob";
    const blobs = this.#database.select({ blob: "integer" }, uses, bounds);
    this.#database.run("DELETE FROM blob_uses WHERE place BETWEEN ? AND ?", bounds);
    for (const { blob } of blobs) {
      this.#database.run(
        "DELETE FROM blobs WHERE number = ? AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = blobs.number)",
        [blob],
      );
    }
    this.#database.run("DELETE FROM events WHERE place BETWEEN ? AND ?", bounds);
  }

  #readPage(head: Head, from: { readonly id: number; readonly link: Buffer }, last: number) {
    const bounds = [placeOf(head, from.id), placeOf(head, last), PAGE_ROWS];
    const rest = `${FROM_EVENTS} WHERE place > ? AND place <= ? ORDER BY place LIMIT ?`;
    const rows = readable(from.id + 1, () => this.#database.select(EVENT, rest, bounds));
    const events: Envelope[] = [];
    let { id, link } = from;
    let bytes = 0;
    for (const row of rows) {
      id += 1;
      const event = this.#checkedEvent(head, row, { id, link });
      events.push(event.envelope);
      link = row.link;
      bytes += event.bytes;
      if (bytes > PAGE_BYTES) break;
    }
    if (events.length === 0) throw this.#cut(head, id + 1);
    return { events, end: { id, link } };
  }

  #checkedEvent(head: Head, row: Row<typeof EVENT>, expected: { readonly id: number; readonly link: Buffer }) {
    const { id, link } = expected;
    if (row.place !== placeOf(head, id)) throw new ChainBreak("missing", id, `Event ${id} is missing.`);
    let decoded: ReturnType<typeof decodePayload>;
    try {
      decoded = decodePayload(row, (hash) => this.#blob(hash));
    } catch (error) {
      throw new ChainBreak("unreadable", id, `Event ${id} cannot be read: ${(error as Error).message}.`);
    }
    const { kind, originator, ts } = row;
    if (!head.chain.link(link, { id, kind, originator, ts, payload: decoded.json }).equals(row.link)) {
      throw new ChainBreak("changed", id, `Event ${id} was changed or moved.`);
    }
    const { session } = head;
    const fields = { id, kind, session, originator: originator as ClientId, ts: toTimestamp(ts) };
    // The link says that this is what was appended, and only envelopes are.
    const envelope = { ...fields, payload: decoded.payload } as unknown as Envelope;
    return { envelope, bytes: decoded.json.length };
  }

  #checkHead(head: Head, link: Buffer): void {
    const { last_event: last, chain } = head;
    if (!link.equals(head.last_link) || !chain.seal(last, link).equals(head.seal)) {
      throw new ChainBreak("head", last, `The session's head does not fit its last event, ${last}.`);
    }
    const beyond = "FROM events WHERE place > ? AND place <= ? ORDER BY place LIMIT 1";
    const bounds = [placeOf(head, last), placeOf(head, EVENTS_PER_SESSION - 1)];
    const added = readable(last, () => this.#database.first({ place: "integer" }, beyond, bounds));
    if (added === undefined) return;
    const id = added.place - placeOf(head, 0);
    throw new ChainBreak("added", id, `Event ${id} stands behind the last one, ${last}.`);
  }

  #cut(head: Head, id: number): ChainBreak {
    return new ChainBreak("truncated", id, `The log ends before event ${id}; it had ${head.last_event} events.`);
  }

  #linkAt(head: Head, id: number): Buffer {
    if (id === 0) return FIRST_LINK;
    const row = readable(id, () => this.#database.first({ link: "bytes" }, AT_PLACE, [placeOf(head, id)]));
    if (row === undefined) throw new ChainBreak("missing", id, `Event ${id} is missing.`);
    return row.link;
  }

  #name(name: string): number {
    let number = this.#names.get(name);
    if (number !== undefined) return number;
    this.#database.run("INSERT OR IGNORE INTO names (name) VALUES (?)", [name]);
    number = this.#database.first({ number: "integer" }, "FROM names WHERE name = ?", [name])?.number;
    if (number === undefined) throw new StoreError("damaged", "The session database is damaged: a name is not there.");
    this.#names.set(name, number);
    return number;
  }

  #use({ hash, encoding, body }: Blob, place: number): void {
    this.#database.run("INSERT OR IGNORE INTO blobs (hash, encoding, body) VALUES (?, ?, ?)", [hash, encoding, body]);
    this.#database.run("INSERT INTO blob_uses (blob, place) SELECT number, ? FROM blobs WHERE hash = ?", [place, hash]);
  }

  #blob(hash: Buffer) {
    return this.#database.first({ encoding: "integer", body: "bytes" }, "FROM blobs WHERE hash = ?", [hash]);
  }
}

/** What a reader gets in place of a break in the chain. */
export function asStoreError(error: unknown): unknown {
  if (!(error instanceof ChainBreak)) return error;
  return new StoreError("damaged", `The log of this session is damaged. ${error.message}`, { cause: error });
}

/** Rows that the database itself cannot make sense of are a break in the chain like any other. */
function readable<T>(id: number, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "damaged") throw error;
    throw new ChainBreak("unreadable", id, `The log cannot be read from event ${id} on: ${error.message}`);
  }
}

function placeOf({ number }: { readonly number: number }, id: number): number {
  return number * EVENTS_PER_SESSION + id;
}
