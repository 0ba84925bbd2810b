/**
 * Sessions as folders of plain files:
 *
 *     <session id>/session.conf            the record of the session
 *     <session id>/messages/0001-user.md   the conversation, for people to read and edit
 *     <session id>/messages.jsonl          which of those we wrote (message-index.ts)
 *     <session id>/events.jsonl            the log, one event a line (event-line.ts)
 *     <session id>/ledger.jsonl            which calls began and ended
 *     <session id>/snapshot.json           the conversation up to an event (snapshot-file.ts)
 *
 * 1. A folder appears complete under its name, and disappears as a whole.
 * 2. The log is the truth; `messages/` is made from it until the user edits something there (message-folder.ts). People may change
 *    every file, so there is no hash chain, and nothing here grants a permission (`isEditable`).
 * 3. Only their owner can read the files: 0600 in folders of 0700.
 */
import { join } from "node:path";
import { type Clock, systemClock } from "../../base/clock.js";
import type { Message } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventKind } from "../../protocol/events.js";
import { type CallId, isId, type SessionId } from "../../protocol/ids.js";
import { derivedId, notABoundary } from "../branch.js";
import { SessionLeases } from "../lease.js";
import { checkSession, neverStarted, noSession } from "../log-rules.js";
import { type Addition, type Beginning, type Check, type Fenced, type LogEnd, LogStore } from "../log-store.js";
import {
  type Conclusion,
  type Durability,
  type EventRange,
  type Intent,
  type NewBranch,
  type NewSession,
  type SessionFilter,
  type SessionPatch,
  type SessionRecord,
  type SessionStore,
  type Snapshot,
  type Spending,
  type SpendingFilter,
  StoreError,
  type Verification,
} from "../store.js";
import { Ledger } from "./ledger.js";
import { LineFile } from "./line-file.js";
import { MessageFolder } from "./message-folder.js";
import { newSessionState, openReader, readConf, type SessionState } from "./open-session.js";
import { SessionCatalog } from "./session-catalog.js";
import { confOf } from "./session-conf.js";
import { SessionWriter } from "./session-writer.js";
import { SnapshotFile } from "./snapshot-file.js";

export interface FilesStoreOptions {
  /** The folder of the folders of the sessions. */
  readonly folder: string;
  /** 32 bytes. With them, only sessions that were made with the same key are opened. */
  readonly key?: Uint8Array;
  readonly clock?: Clock;
}

export async function openFilesStore(options: FilesStoreOptions): Promise<SessionStore> {
  const { folder, key, clock = systemClock } = options;
  if (key !== undefined && key.length !== 32) {
    throw new StoreError("invalid", `The key has ${key.length} bytes; it must have 32.`);
  }
  const leases = new SessionLeases({ folder: join(folder, ".leases"), clock });
  const catalog = new SessionCatalog({ root: folder, key, clock, isLeased: (session) => leases.isLeased(session) });
  await catalog.prepare();
  return new FilesStore(catalog, { key, clock, leases });
}

/** The state of the store for one session. */
interface SessionFiles {
  readonly state: SessionState;
  readonly writer: SessionWriter;
  readonly messages: MessageFolder;
  readonly snapshot: SnapshotFile;
}

interface Parts {
  readonly key: Uint8Array | undefined;
  readonly clock: Clock;
  readonly leases: SessionLeases;
}

class FilesStore extends LogStore {
  readonly #catalog: SessionCatalog;
  readonly #key: Uint8Array | undefined;
  readonly #clock: Clock;
  readonly #open = new Map<SessionId, SessionFiles>();
  /** The place where calls that have not ended were begun, as far as this store has seen it. */
  readonly #calls = new Map<CallId, SessionId>();
  #closing: Promise<void> | undefined;

  readonly isEditable = true;

  constructor(catalog: SessionCatalog, { key, clock, leases }: Parts) {
    super(leases);
    this.#catalog = catalog;
    this.#key = key;
    this.#clock = clock;
  }

  protected async insert(session: NewSession, beginning: Beginning): Promise<void> {
    const { events, check, moved, isDraft } = beginning;
    if (isDraft) {
      await this.#catalog.beginDraft(session.id);
      this.#open.delete(session.id);
    }
    const { writer, messages } = this.#filesOf(session.id);
    try {
      await writer.add(async (open) => {
        check({ event: 0, link: "" });
        await this.#catalog.create(session, events);
        if (events.length > 0) moved(await open.end());
        this.committed();
        return "group";
      });
      messages.scheduleFor(events);
    } catch (error) {
      if (isDraft) {
        await this.#catalog.endDraft(session.id);
        this.#open.delete(session.id);
      }
      throw error;
    }
  }

  async branch(session: NewBranch): Promise<void> {
    checkSession(session);
    const { session: from, event } = session.branch_of;
    const source = this.#filesOf(from);
    const lease = await this.lease(session.id);
    try {
      await this.#catalog.beginDraft(session.id);
      this.#open.delete(session.id);
      // Under the lock of the source, because its log may be rewritten.
      await source.writer.add(async () => {
        const { reader, ancestors, expired_to } = await openReader(source.state);
        const bytes = await reader.turnEnd(event);
        if (bytes === undefined) throw notABoundary(event);
        await this.#catalog.create(session, [], {
          bytes,
          events: source.state.paths.events,
          ancestors: ancestors.ofBranchAt(event),
          copied_to: event,
          expired_to: Math.min(expired_to, event),
        });
        return "group";
      });
      const edited = await source.messages.editedUpTo(event);
      const callOf = (call: CallId) => derivedId("call", call, session.log);
      if (edited) await this.#filesOf(session.id).messages.takeOver(edited, { upTo: event, callOf });
      await this.publish(session.id);
    } catch (error) {
      await this.#catalog.endDraft(session.id);
      this.#open.delete(session.id);
      throw error;
    } finally {
      await lease.release();
    }
  }

  async publish(session: SessionId): Promise<void> {
    const { writer, messages } = this.#filesOf(session);
    await messages.idle();
    await writer.flush();
    await writer.add(async (open) => {
      await open.forget();
      await this.#catalog.publish(session);
      return "group";
    });
    await writer.flush();
    await messages.close();
    this.#open.delete(session);
  }

  protected async write(session: SessionId, addition: Addition, durability: Durability): Promise<void> {
    const { events, copied, check, moved } = addition;
    const { writer, messages } = this.#filesOf(session);
    await writer.add(async (open) => {
      check(await open.end());
      await open.append(events);
      moved(await open.end());
      this.committed();
      const last = events.at(-1);
      if (copied && last !== undefined) await open.changeConf({ copied_to: String(last.id) });
      return durability;
    });
    messages.scheduleFor(events);
  }

  protected async endOf(session: SessionId): Promise<LogEnd | undefined> {
    let end: LogEnd | undefined;
    await this.#filesOf(session).writer.add(async (open) => {
      end = (await this.#catalog.find(session)) && (await open.end());
      return "group";
    });
    return end;
  }

  protected async begin(intent: Intent, check: Check): Promise<void> {
    const { call, session, mutating } = intent;
    const { writer } = this.#filesOf(session);
    const isNew = !this.#calls.has(call);
    if (isNew) this.#calls.set(call, session);
    try {
      await writer.add(async (open) => {
        check(await open.end());
        await open.addToLedger(call, (ledger) => ledger.intention(intent));
        return mutating ? "sync" : "group";
      });
    } catch (error) {
      if (isNew) this.#calls.delete(call);
      throw error;
    }
  }

  protected async finish(call: CallId, conclusion: Conclusion, fenced: Fenced | undefined): Promise<void> {
    this.#checkOpen();
    const session = this.#calls.get(call) ?? (await this.#catalog.sessionOf(call));
    if (session === undefined) throw neverStarted(call);
    await this.#filesOf(session).writer.add(async (open) => {
      fenced?.check(await open.end());
      let mutating = false;
      await open.addToLedger(call, (ledger) => {
        mutating = ledger.isMutating(call);
        return ledger.conclusion(call, conclusion);
      });
      return mutating ? "sync" : "group";
    });
    this.#calls.delete(call);
  }

  async orphans(session: SessionId): Promise<readonly Intent[]> {
    const { state, writer } = this.#filesOf(session);
    await writer.idle();
    await readConf(state.paths, session);
    const file = await LineFile.open(state.paths.ledger, "read");
    try {
      const ledger = new Ledger();
      await ledger.refresh(file);
      const orphans = ledger.orphans(session);
      for (const { call } of orphans) this.#calls.set(call, session);
      return orphans;
    } finally {
      await file.close();
    }
  }

  async *events(session: SessionId, range?: EventRange): AsyncGenerator<Envelope> {
    yield* (await this.#reader(session)).read(range);
  }

  async last(session: SessionId, kind: EventKind): Promise<number | undefined> {
    return (await this.#reader(session)).last(kind);
  }

  async count(session: SessionId, kind: EventKind): Promise<number> {
    return (await this.#reader(session)).count(kind);
  }

  async list(filter: SessionFilter = {}): Promise<readonly SessionRecord[]> {
    this.#checkOpen();
    await Promise.all([...this.#open.values()].map(({ writer }) => writer.idle()));
    return this.#catalog.list(filter);
  }

  async unlisted() {
    this.#checkOpen();
    return this.#catalog.unlisted();
  }

  async get(session: SessionId): Promise<SessionRecord | undefined> {
    this.#checkOpen();
    if (!isId("sess", session)) return undefined;
    await this.#open.get(session)?.writer.idle();
    return this.#catalog.find(session);
  }

  async update(session: SessionId, patch: SessionPatch): Promise<void> {
    const values = confOf(patch);
    await this.#filesOf(session).writer.add(async (open) => {
      await open.changeConf(values);
      return "group";
    });
  }

  async remove(session: SessionId): Promise<void> {
    const { writer, messages } = this.#filesOf(session);
    await messages.idle();
    await writer.add(async (open) => {
      await this.#catalog.remove(session);
      await open.forget();
      messages.forget();
      return "group";
    });
  }

  /** People may edit what is here, so this finds damage and events that are out of order, and no edit. */
  async verify(session: SessionId): Promise<Verification> {
    return (await this.#reader(session)).verify();
  }

  async expire(session: SessionId, event: number): Promise<void> {
    if (!Number.isSafeInteger(event) || event < 0) throw new StoreError("invalid", `${event} is not an event id.`);
    const { state, writer, messages, snapshot } = this.#filesOf(session);
    await writer.add(async (open) => {
      const to = Math.min(event, await open.lastEvent());
      if (to <= (await open.conf()).expired_to) return "group";
      const { reader } = await openReader(state);
      await open.dropLog();
      await snapshot.discard();
      await reader.expire(to);
      await messages.expire(to);
      // Last: after a crash, the steps before it run again.
      await open.changeConf({ expired_to: String(to) });
      return "group";
    });
  }

  async snapshot(session: SessionId): Promise<Snapshot | undefined> {
    const { state, writer, snapshot } = this.#filesOf(session);
    await writer.idle();
    return snapshot.read(await openReader(state));
  }

  async keepSnapshot(session: SessionId, kept: Snapshot): Promise<void> {
    const { state, writer, snapshot } = this.#filesOf(session);
    await writer.add(async () => {
      await snapshot.keep(await openReader(state), kept);
      return "group";
    });
  }

  async editedConversation(session: SessionId): Promise<readonly Message[] | undefined> {
    const { writer, messages } = this.#filesOf(session);
    await writer.idle();
    return messages.editedConversation();
  }

  async spending(filter: SpendingFilter = {}): Promise<readonly Spending[]> {
    this.#checkOpen();
    await Promise.all([...this.#open.values()].map(({ writer }) => writer.idle()));
    return this.#catalog.spending(filter);
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    const all = [...this.#open.values()];
    await Promise.all(all.map(({ messages }) => messages.idle()));
    for (const { writer, messages } of all) {
      await writer.flush().catch((error: unknown) => {
        // Another process removed the session, so nothing waits to be written.
        if (!(error instanceof StoreError) || error.code !== "not-found") throw error;
      });
      await messages.close();
    }
  }

  async #reader(session: SessionId) {
    const { state, writer } = this.#filesOf(session);
    await writer.idle();
    return (await openReader(state)).reader;
  }

  /** Ids become paths, so only valid ones get files. */
  #filesOf(session: SessionId): SessionFiles {
    this.#checkOpen();
    const there = this.#open.get(session);
    if (there !== undefined) return there;
    if (!isId("sess", session)) throw noSession(session);
    const clock = this.#clock;
    const paths = this.#catalog.paths(session);
    const state = newSessionState(session, paths, this.#key);
    const openLog = () => openReader(state);
    const parts = { folder: paths.messages, index: paths.index, lock: paths.messagesLock, clock, openLog };
    const files: SessionFiles = {
      state,
      writer: new SessionWriter(state, { lock: paths.lock, clock }),
      messages: new MessageFolder(parts),
      snapshot: new SnapshotFile(paths.snapshot),
    };
    this.#open.set(session, files);
    return files;
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreError("closed", "The session store is closed.");
  }
}
