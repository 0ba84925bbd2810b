/** Reads `events.jsonl` of one session, and checks that each line is the event that belongs there. */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventKind } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import type { Ancestors } from "../ancestors.js";
import { asStoreError, asVerification, ChainBreak } from "../chain-break.js";
import type { PreparedEvent } from "../log-rules.js";
import { type EventRange, StoreError, type Verification } from "../store.js";
import { checkShape, labelOf, lineOf, parsed, readEvent, renderExpired } from "./event-line.js";
import { guarded } from "./file-errors.js";
import { LineFile } from "./line-file.js";

/** The last event; its id is 0 when there is none. */
export interface Tail {
  readonly id: number;
  /** The digest of its line: two logs of the same length differ in it. */
  readonly link: string;
  readonly ts: string | undefined;
}

export const NO_EVENTS: Tail = { id: 0, link: "", ts: undefined };

/** Enough for the id and the kind at the beginning of a line. */
const LABEL_BYTES = 80;
/** Holds the last line of most logs. */
const QUICK_BYTES = 4096;
/** Below this size a search reads line by line. */
const SEARCH_BYTES = 16 * 1024;

/** SHA-256 in hexadecimal digits; of a text, of its UTF-8. */
export function digestOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function tailOf(line: string): Tail | undefined {
  const event = parsed(line);
  return event && { id: event.id, link: digestOf(line), ts: event.ts };
}

export async function readTail(file: LineFile): Promise<Tail> {
  for await (const { text } of file.linesFromEnd()) {
    const last = tailOf(text);
    if (last !== undefined) return last;
    throw new StoreError("damaged", `Oxbow cannot read the last line of ${file.path}. Restore a copy of the file.`);
  }
  return NO_EVENTS;
}

/** The same for a file at a path, at the cost of one read where the last line is not long. */
export async function readTailOf(path: string): Promise<Tail> {
  const quick = quickTail(path);
  if (quick !== undefined) return quick;
  const file = await LineFile.open(path, "read");
  try {
    return await readTail(file);
  } finally {
    await file.close();
  }
}

/** Undefined if more work is needed. Synchronous, because lists check every session. */
function quickTail(path: string): Tail | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const { size } = fstatSync(file);
    if (size === 0) return NO_EVENTS;
    const bytes = Buffer.allocUnsafe(Math.min(size, QUICK_BYTES));
    const text = bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, size - bytes.length));
    const end = text.lastIndexOf("\n");
    const start = text.lastIndexOf("\n", end - 1) + 1;
    if (end === -1 || (start === 0 && bytes.length < size)) return undefined;
    return tailOf(bytes.toString("utf8", start, end));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The lines of some events that follow the tail, and the tail after them. */
export function linesAfter(
  tail: Tail,
  events: readonly PreparedEvent[],
  session: SessionId,
): { readonly text: string; readonly tail: Tail } {
  const lines = events.map((event) => lineOf(session, event));
  const [last, line] = [events.at(-1), lines.at(-1)];
  if (last === undefined || line === undefined) return { text: "", tail };
  return { text: `${lines.join("\n")}\n`, tail: { id: last.id, link: digestOf(line), ts: last.ts } };
}

/** Reads one session's log; needs no lock. */
export class EventReader {
  readonly #path: string;
  readonly #ancestors: Ancestors<undefined>;
  /** Events up to this one have no content that could be checked. */
  readonly #expiredTo: number;

  constructor(path: string, { ancestors, expiredTo }: { ancestors: Ancestors<undefined>; expiredTo: number }) {
    this.#path = path;
    this.#ancestors = ancestors;
    this.#expiredTo = expiredTo;
  }

  async *read({ after = 0, limit = Number.POSITIVE_INFINITY }: EventRange = {}): AsyncGenerator<Envelope> {
    if (limit <= 0) return;
    const file = await LineFile.open(this.#path, "read");
    try {
      let left = limit;
      for await (const { stored } of this.#walk(file, after)) {
        yield this.#ancestors.adopted(stored);
        if (--left <= 0) return;
      }
    } catch (error) {
      throw asStoreError(error);
    } finally {
      await file.close();
    }
  }

  /** The digest of an event's line; undefined when the log ends before it. */
  async linkAt(id: number): Promise<string | undefined> {
    if (id === 0) return NO_EVENTS.link;
    const file = await LineFile.open(this.#path, "read");
    try {
      return (await this.#find(file, id))?.link;
    } catch (error) {
      throw asStoreError(error);
    } finally {
      await file.close();
    }
  }

  /** The bytes of the log up to an event, if that one ends a turn. */
  async turnEnd(id: number): Promise<number | undefined> {
    const file = await LineFile.open(this.#path, "read");
    try {
      const found = id >= 1 ? await this.#find(file, id) : undefined;
      return found?.kind === "TurnEnded" ? found.from : undefined;
    } catch (error) {
      throw asStoreError(error);
    } finally {
      await file.close();
    }
  }

  async last(kind: EventKind): Promise<number | undefined> {
    const file = await LineFile.open(this.#path, "read");
    try {
      for await (const { text } of file.linesFromEnd()) {
        const label = labelOf(text);
        if (label?.kind === kind) return label.id;
      }
      return undefined;
    } finally {
      await file.close();
    }
  }

  async count(kind: EventKind): Promise<number> {
    let count = 0;
    const file = await LineFile.open(this.#path, "read");
    try {
      for await (const { text } of file.linesFromEnd()) if (labelOf(text)?.kind === kind) count++;
      return count;
    } finally {
      await file.close();
    }
  }

  async verify(): Promise<Verification> {
    const file = await LineFile.open(this.#path, "read");
    try {
      let events = 0;
      for await (const { stored } of this.#walk(file, 0)) events = stored.id;
      return { ok: true, events };
    } catch (error) {
      return asVerification(error);
    } finally {
      await file.close();
    }
  }

  /** Rewrites the log with the expired form of the events up to `last`. Under the session's lock. */
  async expire(last: number): Promise<void> {
    const file = await LineFile.open(this.#path, "read");
    const parts: Buffer[] = [];
    try {
      for await (const { stored, line } of this.#walk(file, 0)) {
        parts.push(Buffer.from(`${stored.id <= last ? renderExpired(stored) : line}\n`));
      }
    } catch (error) {
      throw asStoreError(error);
    } finally {
      await file.close();
    }
    await guarded(this.#path, () =>
      writeFileAtomic(this.#path, Buffer.concat(parts), { mode: 0o600, flush: "file-and-folder" }),
    );
  }

  async *#walk(file: LineFile, after: number): AsyncGenerator<{ readonly stored: Envelope; readonly line: string }> {
    const start = after > 0 ? await this.#find(file, after) : { from: 0 };
    if (start === undefined) return;
    let id = after + 1;
    for await (const lines of file.lines(start.from)) {
      for (const { text } of lines) {
        const stored = readEvent(text, { id, session: this.#ancestors.at(id).session });
        if (id > this.#expiredTo) checkShape(stored, text);
        yield { stored, line: text };
        id++;
      }
    }
  }

  /** Finds where the line after an event begins, and that event; undefined when the log ends before it. */
  async #find(file: LineFile, id: number): Promise<(Tail & { from: number; kind: string }) | undefined> {
    let low = 0;
    let high = await file.end();
    while (high - low > SEARCH_BYTES) {
      const middle = Math.floor((low + high) / 2);
      const at = await file.lineStart(middle);
      const found = at < high ? labelOf(await file.peek(at, LABEL_BYTES)) : undefined;
      if (found === undefined || found.id > id) high = middle;
      else low = at;
    }
    for await (const lines of file.lines(low)) {
      for (const { at, text } of lines) {
        const found = labelOf(text);
        if (found === undefined || found.id < id) continue;
        const tail = tailOf(text);
        if (found.id > id || tail === undefined) throw new ChainBreak("missing", id, `Event ${id} is missing.`);
        return { ...tail, kind: found.kind, from: at + Buffer.byteLength(text) + 1 };
      }
    }
    return undefined;
  }
}
