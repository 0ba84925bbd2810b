/**
 * The rows of `stretches`: what runs of whole turns came to, so that a resume need not read their events.
 *
 * 1. The stretches of a session follow each other without gaps. The first begins where reading would: behind what has expired, or
 *    it holds a summary.
 * 2. A stretch has a tag over its place, its content and the links of the log at both its ends, with the key of the chain: it fits
 *    these events and no others.
 * 3. They are a copy. If one is wrong, all of the session are deleted and the log is read.
 * 4. They go with the content of any event that expires, and when a summary makes them needless.
 * 5. What an event keeps as a blob is not kept again: the stretch has its hash.
 */
import type { JsonValue } from "../../protocol/json.js";
import { ChainBreak } from "../chain-break.js";
import { StoreError, type Stretch } from "../store.js";
import { EventReader, type Tables } from "./event-reader.js";
import { EVENTS_PER_SESSION, placeOf } from "./event-row.js";
import { decodeRepeated, encodeRepeated } from "./payload.js";
import type { Head } from "./session-table.js";

const STRETCH = {
  place: "integer",
  after: "integer",
  encoding: "integer",
  body: "bytes",
  holes: "bytes",
  tag: "bytes",
} as const;

/** A conversation that is longer than any model reads at once; its log is as quick to read as a copy. */
const MOST_BYTES = 64 * 1024 * 1024;

type Content = Omit<Stretch, "after" | "to">;

export class Stretches {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  end(head: Head): number | undefined {
    const rest = "FROM stretches WHERE place > ? AND place <= ? ORDER BY place DESC LIMIT 1";
    const last = this.#tables.database.first({ place: "integer" }, rest, boundsOf(head));
    return last && last.place - placeOf(head, 0);
  }

  /** Inside a snapshot that the head is of. undefined when something is wrong with them. */
  read(head: Head): Stretch[] | undefined {
    try {
      const found: Stretch[] = [];
      let at: number | undefined;
      for (;;) {
        // One at a time, because they are large.
        const stretch = this.#next(head, at ?? 0);
        if (stretch === undefined) return found;
        const expected = at ?? (stretch.replacesEarlier ? Math.max(stretch.after, head.expired_to) : head.expired_to);
        if (stretch.after !== expected) return undefined;
        found.push(stretch);
        at = stretch.to;
      }
    } catch (error) {
      // A closed store is one, damage is not.
      if (error instanceof StoreError && error.code !== "damaged") throw error;
      return undefined;
    }
  }

  /** Checks, and returns what writes. */
  addition(head: Head, { after, to, ...content }: Stretch): (() => void) | undefined {
    const { database, blobs } = this.#tables;
    const end = this.end(head);
    const follows = content.replacesEarlier
      ? after >= Math.max(head.expired_to, end ?? 0)
      : after === (end ?? head.expired_to);
    if (!follows || to <= after || to > head.last_event) {
      throw new StoreError("conflict", `The stretch behind event ${after} does not follow the one before it.`);
    }
    const isBlob = (hash: Buffer) => blobs.find(hash) !== undefined;
    const { encoding, body, holes } = encodeRepeated(content as unknown as JsonValue, isBlob);
    if (body.length > MOST_BYTES) return undefined;
    const tag = this.#tag(head, { after, to, encoding, body, holes });
    return () => {
      if (content.replacesEarlier) this.delete(head);
      database.run("INSERT INTO stretches (place, after, encoding, body, holes, tag) VALUES (?, ?, ?, ?, ?, ?)", [
        placeOf(head, to),
        after,
        encoding,
        body,
        holes,
        tag,
      ]);
    };
  }

  delete(head: Head): void {
    this.#tables.database.run("DELETE FROM stretches WHERE place > ? AND place <= ?", boundsOf(head));
  }

  #next(head: Head, behind: number): Stretch | undefined {
    const { database, blobs } = this.#tables;
    const rest = "FROM stretches WHERE place > ? AND place <= ? ORDER BY place LIMIT 1";
    const [, last] = boundsOf(head);
    const row = database.first(STRETCH, rest, [placeOf(head, behind), last]);
    if (row === undefined) return undefined;
    const { after, tag } = row;
    const to = row.place - placeOf(head, 0);
    if (!this.#tag(head, { ...row, to }).equals(tag)) throw new ChainBreak("changed", to, "A stretch was changed.");
    // The tag says that this is what was added.
    const content = decodeRepeated(row, (hash) => blobs.find(hash)) as unknown as Content;
    return { after, to, ...content };
  }

  #tag(
    head: Head,
    { after, to, ...stored }: { after: number; to: number; encoding: number; body: Buffer; holes: Buffer },
  ): Buffer {
    const reader = new EventReader(head, this.#tables);
    return head.chain.stretch(reader.positionAt(after), reader.positionAt(to), stored);
  }
}

/** Behind the first place, up to the last. */
function boundsOf(head: Head): [number, number] {
  return [placeOf(head, 0), placeOf(head, EVENTS_PER_SESSION - 1)];
}
