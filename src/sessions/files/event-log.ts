/**
 * `events.jsonl` of one session. Every read checks the chain: it returns an event only when its link fits the link before it.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventKind } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import type { Ancestors } from "../ancestors.js";
import { ChainBreak } from "../chain-break.js";
import { type EventRange, StoreError, type Verification } from "../store.js";
import { outOfOrder } from "../write-conflict.js";
import { type Chain, FIRST_LINK } from "./chain.js";
import { claims, expireLine, labelOf, type PreparedEvent, readEvent, renderEvent } from "./event-line.js";
import { guarded } from "./file-errors.js";
import { LineFile } from "./line-file.js";
import { type Head, readHead } from "./log-head.js";

/** What a log belongs to. */
export interface LogIdentity {
  readonly session: SessionId;
  readonly chain: Chain;
  readonly ancestors: Ancestors<Chain>;
}

/** The last event; its id is 0 when there is none. */
export interface Tail {
  readonly id: number;
  readonly link: string;
  readonly ts: string | undefined;
}

export const NO_EVENTS: Tail = { id: 0, link: FIRST_LINK, ts: undefined };

/** Enough for the id and the kind at the beginning of a line. */
const LABEL_BYTES = 80;
/** Holds the last line of most logs. */
const QUICK_BYTES = 4096;
const HEAD_TRIES = 3;
/** Below this size a search reads line by line. */
const SEARCH_BYTES = 16 * 1024;

export async function readTail(file: LineFile): Promise<Tail> {
  for await (const { text } of file.linesFromEnd()) {
    const last = claims(text);
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
    return claims(bytes.toString("utf8", start, end));
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
  { session, chain }: Pick<LogIdentity, "session" | "chain">,
): { readonly text: string; readonly tail: Tail } {
  let text = "";
  let last = tail;
  for (const event of events) {
    if (event.id !== last.id + 1) throw outOfOrder(session, event.id, last.id + 1);
    const { line, link } = renderEvent(event, { session, chain, previous: last.link });
    text += line;
    last = { id: event.id, link, ts: event.ts };
  }
  return { text, tail: last };
}

export interface LogPaths {
  readonly events: string;
  readonly head: string;
}

/** Reads one session's log; needs no lock. */
export class EventReader {
  readonly #paths: LogPaths;
  readonly #identity: LogIdentity;

  constructor(paths: LogPaths, identity: LogIdentity) {
    this.#paths = paths;
    this.#identity = identity;
  }

  async *read({ after = 0, limit = Number.POSITIVE_INFINITY }: EventRange = {}): AsyncGenerator<Envelope> {
    if (limit <= 0) return;
    // The head first: beside a writer the log only grows, so it holds what an earlier head names.
    const head = await readHead(this.#paths.head);
    const file = await LineFile.open(this.#paths.events, "read");
    try {
      let left = limit;
      let last = after;
      for await (const { stored } of this.#walk(file, after)) {
        last = stored.id;
        yield this.#identity.ancestors.adopted(stored);
        if (--left <= 0) return;
      }
      if (head !== undefined && last < head.event && after < head.event) throw cut(last + 1, head.event);
    } catch (error) {
      throw asDamage(error);
    } finally {
      await file.close();
    }
  }

  /** The link that an event claims to have; undefined when the log ends before it. */
  async linkAt(id: number): Promise<string | undefined> {
    if (id === 0) return FIRST_LINK;
    const file = await LineFile.open(this.#paths.events, "read");
    try {
      return (await this.#find(file, id))?.link;
    } catch (error) {
      throw asDamage(error);
    } finally {
      await file.close();
    }
  }

  /** The bytes of the log up to an event that ends a turn, and that event. */
  async turnEnd(id: number): Promise<{ readonly bytes: number; readonly tail: Tail } | undefined> {
    const file = await LineFile.open(this.#paths.events, "read");
    try {
      const found = id >= 1 ? await this.#find(file, id) : undefined;
      return found?.kind === "TurnEnded" ? { bytes: found.from, tail: found } : undefined;
    } catch (error) {
      throw asDamage(error);
    } finally {
      await file.close();
    }
  }

  async last(kind: EventKind): Promise<number | undefined> {
    const file = await LineFile.open(this.#paths.events, "read");
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
    const file = await LineFile.open(this.#paths.events, "read");
    try {
      for await (const { text } of file.linesFromEnd()) if (labelOf(text)?.kind === kind) count++;
      return count;
    } finally {
      await file.close();
    }
  }

  async verify(): Promise<Verification> {
    let found = await this.#verify();
    // The head is overwritten in place: beside a writer half of it may be old.
    for (let tries = 0; !found.ok && found.problem === "head" && tries < HEAD_TRIES; tries++)
      found = await this.#verify();
    return found;
  }

  async #verify(): Promise<Verification> {
    const head = await readHead(this.#paths.head);
    const file = await LineFile.open(this.#paths.events, "read");
    try {
      let tail: { readonly id: number; readonly link: string } = { id: 0, link: FIRST_LINK };
      for await (const { stored, link } of this.#walk(file, 0, head)) {
        tail = { id: stored.id, link };
        if (tail.id === head?.event) this.#checkHead(head, link);
      }
      if (head === undefined) throw badHead(tail.id);
      if (head.event === 0) this.#checkHead(head, FIRST_LINK);
      if (tail.id < head.event) throw cut(tail.id + 1, head.event);
      return { ok: true, events: tail.id };
    } catch (error) {
      if (!(error instanceof ChainBreak)) throw error;
      return { ok: false, problem: error.problem, event_id: error.event, message: error.message };
    } finally {
      await file.close();
    }
  }

  /** Rewrites the log with the expired form of the events up to `last`. Under the session's lock. */
  async expire(last: number): Promise<void> {
    const file = await LineFile.open(this.#paths.events, "read");
    const parts: Buffer[] = [];
    try {
      for await (const { stored, line } of this.#walk(file, 0)) {
        const { chain } = this.#identity.ancestors.at(stored.id);
        parts.push(Buffer.from(stored.id <= last ? expireLine(line, chain) : `${line}\n`));
      }
    } catch (error) {
      throw asDamage(error);
    } finally {
      await file.close();
    }
    const { events } = this.#paths;
    await guarded(events, () =>
      writeFileAtomic(events, Buffer.concat(parts), { mode: 0o600, flush: "file-and-folder" }),
    );
  }

  async *#walk(
    file: LineFile,
    after: number,
    head?: Head,
  ): AsyncGenerator<{ readonly stored: Envelope; readonly link: string; readonly line: string }> {
    let from = 0;
    let id = 1;
    let previous = FIRST_LINK;
    if (after > 0) {
      const start = await this.#find(file, after);
      if (start === undefined) return;
      from = start.from;
      previous = start.link;
      id = after + 1;
    }
    for await (const lines of file.lines(from)) {
      for (const { text } of lines) {
        const { envelope: stored, link } = this.#checked(text, { id, previous, head });
        yield { stored, link, line: text };
        previous = link;
        id++;
      }
    }
  }

  #checked(line: string, { id, previous, head }: { id: number; previous: string; head: Head | undefined }) {
    try {
      return readEvent(line, { ...this.#identity.ancestors.at(id), id, previous });
    } catch (error) {
      if (!(error instanceof ChainBreak) || error.problem !== "changed" || head === undefined || id <= head.event) {
        throw error;
      }
      throw new ChainBreak("added", id, `Event ${id} was added after the last one, ${head.event}.`);
    }
  }

  /** Where the line after an event begins, and that event; undefined when the log ends before it. */
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
        const claim = claims(text);
        if (found.id > id || claim === undefined) throw new ChainBreak("missing", id, `Event ${id} is missing.`);
        return { ...claim, kind: found.kind, from: at + Buffer.byteLength(text) + 1 };
      }
    }
    return undefined;
  }

  #checkHead(head: Head, link: string): void {
    if (head.link !== link || head.seal !== this.#identity.chain.seal(head.event, link)) throw badHead(head.event);
  }
}

function badHead(event: number): ChainBreak {
  return new ChainBreak("head", event, `The session's head does not match its event ${event}.`);
}

function cut(event: number, length: number): ChainBreak {
  return new ChainBreak("truncated", event, `The log ends before event ${event}; it had ${length} events at least.`);
}

/** The error that a reader gets for a break in the chain. */
function asDamage(error: unknown): unknown {
  if (!(error instanceof ChainBreak)) return error;
  return new StoreError("damaged", `The log of this session is damaged. ${error.message}`, { cause: error });
}
