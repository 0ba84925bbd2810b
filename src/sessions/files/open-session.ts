/** The files of one session while its lock is held. They are opened when they are needed and closed with the batch. */
import { readFileSync } from "node:fs";
import type { CallId, SessionId } from "../../protocol/ids.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { Ancestors } from "../ancestors.js";
import type { KnownHead } from "../known-heads.js";
import { StoreError } from "../store.js";
import { Chain } from "./chain.js";
import type { PreparedEvent } from "./event-line.js";
import { EventReader, type LogIdentity, linesAfter, readTail, type Tail } from "./event-log.js";
import { guarded, ifThere } from "./file-errors.js";
import { Ledger } from "./ledger.js";
import { LineFile } from "./line-file.js";
import { readHead, writeHead } from "./log-head.js";
import { type ConfValues, parseConf, type SessionConf, withValues } from "./session-conf.js";
import type { SessionPaths } from "./session-paths.js";

/** What a writer remembers of a session between two batches. */
export interface SessionState {
  readonly session: SessionId;
  readonly paths: SessionPaths;
  readonly key: Uint8Array | undefined;
  ledger: Ledger;
  /** The log when we released it; another process may have written since. */
  log: { readonly inode: number; readonly end: number; readonly tail: Tail; readonly chain: Chain } | undefined;
  /** Our files that may not be on disk yet. */
  readonly unsynced: Set<"log" | "ledger">;
}

export function newSessionState(session: SessionId, paths: SessionPaths, key: Uint8Array | undefined): SessionState {
  return { session, paths, key, ledger: new Ledger(), log: undefined, unsynced: new Set() };
}

export class OpenSession {
  readonly #state: SessionState;
  #log: LineFile | undefined;
  #ledger: LineFile | undefined;
  #turnEnded = false;

  constructor(state: SessionState) {
    this.#state = state;
  }

  async append(events: readonly PreparedEvent[]): Promise<void> {
    const file = await this.#openLog();
    const log = this.#known();
    const { text, tail } = linesAfter(log.tail, events, { session: this.#state.session, chain: log.chain });
    if (text === "") return;
    await file.append(text);
    this.#state.log = { ...log, end: file.size, tail };
    this.#state.unsynced.add("log");
    this.#turnEnded ||= events.some(({ kind }) => kind === "TurnEnded" || kind === "SessionEnded");
  }

  /** Adds the line about a call that `make` answers with, unless it refuses. */
  async addToLedger(call: CallId, make: (ledger: Ledger) => string): Promise<void> {
    const file = await this.#openLedger();
    const { ledger, unsynced } = this.#state;
    await ledger.lookFor(call, file);
    await file.append(make(ledger));
    unsynced.add("ledger");
    await ledger.refresh(file);
    const sum = ledger.sum();
    if (sum === undefined) return;
    await file.append(sum);
    await ledger.refresh(file);
  }

  async lastEvent(): Promise<number> {
    await this.#openLog();
    return this.#known().tail.id;
  }

  async head(): Promise<KnownHead> {
    await this.#openLog();
    const { id, link } = this.#known().tail;
    return { event: id, link };
  }

  async conf(): Promise<SessionConf> {
    return (await readConf(this.#state.paths, this.#state.session)).conf;
  }

  async changeConf(values: ConfValues): Promise<void> {
    const { paths, session } = this.#state;
    const { text } = await readConf(paths, session);
    const changed = withValues(text, values);
    parseConf(changed, paths.conf);
    if (changed === text) return;
    await guarded(paths.conf, () => writeFileAtomic(paths.conf, changed, { mode: 0o600, flush: "file-and-folder" }));
  }

  /** The session is gone. */
  async forget(): Promise<void> {
    await this.close();
    this.#log = this.#ledger = undefined;
    this.#state.log = undefined;
    this.#state.ledger = new Ledger();
    this.#state.unsynced.clear();
    this.#turnEnded = false;
  }

  /** The log was rewritten. */
  async dropLog(): Promise<void> {
    await this.#log?.close();
    this.#log = undefined;
    this.#state.log = undefined;
  }

  async sync(): Promise<void> {
    const { unsynced, paths } = this.#state;
    if (unsynced.has("log")) {
      const file = await this.#openLog();
      await file.sync();
      unsynced.delete("log");
      const { tail, chain } = this.#known();
      await writeHead(paths.head, tail, chain);
    }
    if (!unsynced.has("ledger")) return;
    await (await this.#openLedger()).sync();
    unsynced.delete("ledger");
  }

  /** Updates the time in `session.conf` for readers; the log counts. */
  async recordActivity(): Promise<void> {
    const ts = this.#state.log?.tail.ts;
    if (!this.#turnEnded || ts === undefined) return;
    await this.changeConf({ active_at: ts }).catch(() => {});
  }

  async close(): Promise<void> {
    await this.#log?.close();
    await this.#ledger?.close();
  }

  async #openLog(): Promise<LineFile> {
    if (this.#log !== undefined) return this.#log;
    const { paths, session, log } = this.#state;
    this.#log = await openPart(paths.events, this.#state);
    if (log?.inode === this.#log.inode && log.end === this.#log.size) {
      this.#log.trustEnd(log.end);
      return this.#log;
    }
    const chain = await readChain(this.#state);
    const tail = await readTail(this.#log);
    const head = await readHead(paths.head);
    if (head !== undefined && head.event > tail.id) {
      const problem = `The log of ${session} ends at event ${tail.id}; it had ${head.event}. Restore a copy of ${paths.events}.`;
      throw new StoreError("damaged", problem);
    }
    this.#state.log = { inode: this.#log.inode, end: await this.#log.end(), tail, chain };
    return this.#log;
  }

  async #openLedger(): Promise<LineFile> {
    if (this.#ledger !== undefined) return this.#ledger;
    this.#ledger = await openPart(this.#state.paths.ledger, this.#state);
    await this.#state.ledger.refresh(this.#ledger);
    return this.#ledger;
  }

  #known(): NonNullable<SessionState["log"]> {
    if (this.#state.log === undefined) throw new Error("the log is not open");
    return this.#state.log;
  }
}

export type SessionFiles = Pick<SessionState, "session" | "paths" | "key">;

export async function readConf(
  paths: SessionPaths,
  session: SessionId,
): Promise<{ readonly conf: SessionConf; readonly text: string }> {
  // Synchronous: it is small, and lists read every one of them.
  const text = await guarded(paths.conf, () => ifThere(async () => readFileSync(paths.conf, "utf8")));
  if (text === undefined) throw new StoreError("not-found", `There is no session ${session}.`);
  const conf = parseConf(text, paths.conf);
  if (conf.id === session) return { conf, text };
  throw new StoreError("damaged", `${paths.conf} is of another session, ${conf.id}. Give the folder that name again.`);
}

export interface OpenedLog extends LogIdentity {
  readonly reader: EventReader;
  readonly log: string;
  readonly expired_to: number;
}

/** The reader of a session's log, once it is sure that this key fits. */
export async function openReader(files: SessionFiles): Promise<OpenedLog> {
  const { conf } = await readConf(files.paths, files.session);
  const { session, key } = files;
  const { log, expired_to } = conf;
  const chain = chainOf(conf, files);
  const ancestors = new Ancestors({ session, log, chain }, conf.ancestors, (names) => new Chain(key, names));
  const identity: LogIdentity = { session, chain, ancestors };
  return { reader: new EventReader(files.paths, identity), ...identity, log, expired_to };
}

async function readChain(files: SessionFiles): Promise<Chain> {
  const { conf } = await readConf(files.paths, files.session);
  return chainOf(conf, files);
}

function chainOf(conf: SessionConf, { key, paths }: SessionFiles): Chain {
  const names = { session: conf.id, log: conf.log };
  const chain = new Chain(key, names);
  if (conf.chain === chain.fingerprint) return chain;
  const plain = conf.chain === new Chain(undefined, names).fingerprint;
  const how = plain ? "without a key" : `with ${key === undefined ? "a" : "another"} key`;
  throw new StoreError(
    "wrong-key",
    `The session in ${paths.folder} was written ${how}. Open it ${plain ? "without one" : "with that one"}.`,
  );
}

async function openPart(path: string, { paths, session }: SessionFiles): Promise<LineFile> {
  try {
    return await LineFile.open(path, "append");
  } catch (error) {
    // Usually there is no such session.
    await readConf(paths, session);
    throw error;
  }
}
