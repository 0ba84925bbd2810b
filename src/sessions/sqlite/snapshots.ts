/**
 * The rows of `snapshots`: the conversation of each session up to an event.
 *
 * 1. A snapshot has a tag over its content and the link of its event, with the key of the chain: it fits this log and no other.
 * 2. It is a copy. If it is wrong, the log is read, and the next snapshot takes its place.
 * 3. It goes with the content of any event that expires.
 */
import { promisify } from "node:util";
import { deflateRaw, inflateRawSync } from "node:zlib";
import { ChainBreak } from "../chain-break.js";
import { snapshotMisfits } from "../log-rules.js";
import { type Snapshot, StoreError } from "../store.js";
import { EventReader, type Tables } from "./event-reader.js";
import type { Head } from "./session-table.js";

/** A conversation that is longer than any model reads at once; its log is as quick to read as a copy. */
const MOST_BYTES = 64 * 1024 * 1024;
const INFLATED_MAX = 1024 * 1024 * 1024;
const LEVEL = 4;

const deflate = promisify(deflateRaw);

/** The row of a snapshot, as far as it can be made outside a transaction; undefined if it is too large to help. */
export async function packSnapshot(snapshot: Snapshot): Promise<Buffer | undefined> {
  const body = await deflate(JSON.stringify(snapshot), { level: LEVEL });
  return body.length > MOST_BYTES ? undefined : body;
}

export class Snapshots {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Inside a snapshot of the database that the head is of. */
  read(head: Head): Snapshot | undefined {
    try {
      const columns = { event: "integer", body: "bytes", tag: "bytes" } as const;
      const row = this.#tables.database.first(columns, "FROM snapshots WHERE session = ?", [head.number]);
      if (row === undefined || !this.#tag(head, row.event, row.body).equals(row.tag)) return undefined;
      // The tag says that this is what was kept.
      return JSON.parse(inflateRawSync(row.body, { maxOutputLength: INFLATED_MAX }).toString()) as Snapshot;
    } catch (error) {
      if (error instanceof ChainBreak || (error instanceof StoreError && error.code === "damaged")) return undefined;
      throw error;
    }
  }

  /** Checks, and returns what writes. */
  addition(head: Head, { from, to }: Snapshot, body: Buffer): () => void {
    if (from < head.expired_to || to <= from || to > head.last_event) throw snapshotMisfits(to);
    const tag = this.#tag(head, to, body);
    return () => {
      const row = "INSERT OR REPLACE INTO snapshots (session, event, body, tag) VALUES (?, ?, ?, ?)";
      this.#tables.database.run(row, [head.number, to, body, tag]);
    };
  }

  delete({ number }: Head): void {
    this.#tables.database.run("DELETE FROM snapshots WHERE session = ?", [number]);
  }

  #tag(head: Head, event: number, body: Buffer): Buffer {
    return head.chain.snapshot(new EventReader(head, this.#tables).positionAt(event), head.expired_to, body);
  }
}
