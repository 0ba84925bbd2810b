/** The files of one session while its lock is held. They are opened when they are needed and closed with the batch. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CallId, SessionId } from "../../protocol/ids.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { Ancestors } from "../ancestors.js";
import { noSession, type PreparedEvent } from "../log-rules.js";
import type { LogEnd } from "../log-store.js";
import { StoreError } from "../store.js";
import { EventReader, linesAfter, readTail, type Tail } from "./event-log.js";
import { guarded, ifThere } from "./file-errors.js";
import { Ledger } from "./ledger.js";
import { LineFile } from "./line-file.js";
import { type ConfValues, fingerprint, parseConf, type SessionConf, withValues } from "./session-conf.js";

/** Describes where the parts of a session are. Locks are outside its folder, because that is created and removed. */
export type SessionPaths = ReturnType<typeof sessionPaths>;

export function sessionPaths(root: string, session: SessionId, folder = join(root, session)) {
  return {
    folder,
    conf: join(folder, "session.conf"),
    messages: join(folder, "messages"),
    index: join(folder, "messages.jsonl"),
    events: join(folder, "events.jsonl"),
    ledger: join(folder, "ledger.jsonl"),
    snapshot: join(folder, "snapshot.json"),
    lock: join(root, ".locks", session),
    messagesLock: join(root, ".locks", `${session}.messages`),
  } as const;
}

/** Describes what a writer remembers of a session between two batches. */
export interface SessionState {
  readonly session: SessionId;
  readonly paths: SessionPaths;
  readonly key: Uint8Array | undefined;
  ledger: Ledger;
  /** The log when we released it; another process may have written since. */
  log: { readonly inode: number; readonly end: number; readonly tail: Tail } | undefined;
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
    const { text, tail } = linesAfter(log.tail, events, this.#state.session);
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

  async end(): Promise<LogEnd> {
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
    const { unsynced } = this.#state;
    if (unsynced.has("log")) {
      await (await this.#openLog()).sync();
      unsynced.delete("log");
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
    const { paths, log } = this.#state;
    this.#log = await openPart(paths.events, this.#state);
    if (log?.inode === this.#log.inode && log.end === this.#log.size) {
      this.#log.trustEnd(log.end);
      return this.#log;
    }
    await openReader(this.#state);
    const tail = await readTail(this.#log);
    this.#state.log = { inode: this.#log.inode, end: await this.#log.end(), tail };
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
  if (text === undefined) throw noSession(session);
  const conf = parseConf(text, paths.conf);
  if (conf.id === session) return { conf, text };
  throw new StoreError("damaged", `${paths.conf} is of another session, ${conf.id}. Give the folder that name again.`);
}

export interface OpenedLog {
  readonly reader: EventReader;
  readonly ancestors: Ancestors<undefined>;
  readonly log: string;
  readonly expired_to: number;
}

/** The reader of a session's log, once it is sure that the session belongs to this key. */
export async function openReader({ paths, session, key }: SessionFiles): Promise<OpenedLog> {
  const { conf } = await readConf(paths, session);
  checkKey(conf, key, paths.folder);
  const { log, expired_to } = conf;
  const ancestors = new Ancestors({ session, log, chain: undefined }, conf.ancestors, () => undefined);
  return { reader: new EventReader(paths.events, { ancestors, expiredTo: expired_to }), ancestors, log, expired_to };
}

/** A session that another person made, in a repository for example, is not continued as one's own. */
function checkKey(conf: SessionConf, key: Uint8Array | undefined, folder: string): void {
  if (conf.chain === fingerprint(key, conf)) return;
  const plain = conf.chain === fingerprint(undefined, conf);
  const how = plain ? "without a key" : `with ${key === undefined ? "a" : "another"} key`;
  const message = `The session in ${folder} was written ${how}. Open it ${plain ? "without one" : "with that one"}.`;
  throw new StoreError("wrong-key", message);
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
