/** The default store: one encrypted database for all of a user's sessions, used by several processes at once. */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as nextTurnOfTheLoop } from "node:timers/promises";
import { type Clock, systemClock } from "../../base/clock.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventKind } from "../../protocol/events.js";
import type { CallId, SessionId } from "../../protocol/ids.js";
import type { Database } from "../../system/sqlite/database.js";
import { isUpgrade } from "../../system/sqlite/migrate.js";
import { openOrView } from "../../system/sqlite/open-or-view.js";
import { notABoundary } from "../branch.js";
import { asStoreError, ChainBreak } from "../chain-break.js";
import { SessionLeases } from "../lease.js";
import { checkSession, isEventId } from "../log-rules.js";
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
import { Blobs } from "./blobs.js";
import { CommitQueue } from "./commit-queue.js";
import { EventLog } from "./event-log.js";
import { inspectDatabase } from "./inspect.js";
import { chainKey, databaseKey } from "./keys.js";
import { Ledger } from "./ledger.js";
import { MIGRATIONS, migrate } from "./migrations.js";
import { Names } from "./names.js";
import { preparePayload } from "./payload.js";
import { type Head, SessionTable } from "./session-table.js";
import { packSnapshot, Snapshots } from "./snapshots.js";
import { paidCalls, SpendingTable } from "./spending-table.js";

export interface SqliteStoreOptions {
  readonly path: string;
  /** 32 bytes; `resolveKey` finds them. */
  readonly key: Uint8Array;
  readonly clock?: Clock;
  /** Says how long a `group` append may wait for company. */
  readonly groupDelayMs?: number;
  /** If nothing can be written, reading still works. */
  readonly isForReading?: boolean;
  /** Called before a database of an older version is changed, which holds the process up. */
  readonly onUpgrade?: () => Promise<void>;
}

/** A commit costs as much as a hundred events in it. What matters is appended with `sync` and takes the rest along. */
const GROUP_DELAY_MS = 20;

export async function openSqliteStore(options: SqliteStoreOptions): Promise<SessionStore> {
  const { path, key, clock = systemClock, groupDelayMs = GROUP_DELAY_MS } = options;
  const database = await openOrView(options.isForReading, async (open) => {
    const opened = await open({ path, key: databaseKey(key) });
    try {
      if (isUpgrade(opened, MIGRATIONS)) {
        await options.onUpgrade?.();
        await removeWordIndex(dirname(path));
      }
      migrate(opened, { wall: () => clock.wall() });
      return opened;
    } catch (error) {
      opened.close();
      throw error;
    }
  });
  const leases = new SessionLeases({ folder: join(dirname(path), "leases"), clock });
  return new SqliteStore(database, { clock, groupDelayMs, leases, chainKey: chainKey(key) });
}

/** Removes the index of words that earlier versions kept: it would keep the words of what is deleted. */
async function removeWordIndex(folder: string): Promise<void> {
  for (const ending of ["", "-wal", "-shm"]) await rm(join(folder, `search.db${ending}`), { force: true });
}

interface Parts {
  readonly clock: Clock;
  readonly groupDelayMs: number;
  readonly leases: SessionLeases;
  readonly chainKey: Uint8Array;
}

class SqliteStore extends LogStore {
  readonly #database: Database;
  readonly #queue: CommitQueue;
  readonly #sessions: SessionTable;
  readonly #log: EventLog;
  readonly #snapshots: Snapshots;
  readonly #ledger: Ledger;
  readonly #spending: SpendingTable;
  /** Calls that change something, begun here and not ended. */
  readonly #changing = new Set<CallId>();

  constructor(database: Database, { clock, groupDelayMs, chainKey, leases }: Parts) {
    super(leases);
    this.#database = database;
    const names = new Names(database);
    this.#sessions = new SessionTable(database, chainKey);
    const tables = { database, names, blobs: new Blobs(database) };
    this.#log = new EventLog(tables);
    this.#snapshots = new Snapshots(tables);
    this.#ledger = new Ledger(database, names);
    this.#spending = new SpendingTable(database, names);
    const onRollback = () => {
      names.forget();
      this.#log.forget();
      this.rolledBack();
    };
    const onCommit = this.committed;
    const together = (work: () => void) => this.#sessions.together(work);
    this.#queue = new CommitQueue({ database, clock, delayMs: groupDelayMs, together, onRollback, onCommit });
  }

  protected async insert(session: NewSession, beginning: Beginning): Promise<void> {
    // A draft of this session is abandoned, because its builder would have the lease.
    if (beginning.isDraft) await this.#sweepDrafts();
    const add = this.#inserted(beginning);
    await this.#queue.add("sync", () => {
      const insert = this.#sessions.insertion(session, { draft: beginning.isDraft });
      beginning.check(NO_EVENTS);
      return () => {
        insert();
        add(this.#sessions.head(session.id));
      };
    });
    if (!beginning.isDraft) await this.#sweepDrafts();
  }

  /** Removes abandoned drafts. They are invisible; what cannot be removed now is removed the next time. */
  async #sweepDrafts(): Promise<void> {
    for (const draft of this.#sessions.drafts()) {
      if (this.#sessions.builds(draft)) continue;
      try {
        const lease = this.leases.has(draft) ? undefined : await this.leases.take(draft);
        await this.remove(draft).finally(() => lease?.release());
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
      }
    }
  }

  async branch(session: NewBranch): Promise<void> {
    checkSession(session);
    const { session: from, event } = session.branch_of;
    await this.#queue.add("sync", () => {
      const source = this.#sessions.head(from);
      if (!this.#log.endsTurn(source, event)) throw notABoundary(event);
      const insert = this.#sessions.insertion(session);
      this.leases.check(session.id);
      return () => {
        insert();
        const expired = Math.min(source.expired_to, event);
        const head = this.#sessions.beginBranch(session.id, source.ancestors.ofBranchAt(event), expired);
        const { lastLink, ts } = this.#log.copy(source, head, event);
        this.#sessions.moveHead(head, { lastEvent: event, lastLink, activeAt: Math.max(head.active_at, ts) });
      };
    });
  }

  async publish(session: SessionId): Promise<void> {
    await this.#queue.add("sync", () => {
      const head = this.#sessions.head(session);
      return () => this.#sessions.publish(head);
    });
  }

  protected async write(session: SessionId, addition: Addition, durability: Durability): Promise<void> {
    const add = this.#inserted(addition);
    await this.#queue.add(durability, () => {
      const head = this.#checked(session, addition.check);
      return () => add(head);
    });
  }

  /** Returns what writes the events behind a head. */
  #inserted({ events, copied, moved }: Addition): (head: Head) => void {
    const paid = copied ? [] : paidCalls(events);
    const stored = events.map((event) => ({ ...event, payload: preparePayload(event.json) }));
    const last = stored.at(-1);
    return (head) => {
      if (last === undefined) return;
      const lastLink = this.#log.insert(head, stored);
      this.#sessions.moveHead(head, { lastEvent: last.id, lastLink, activeAt: Math.max(head.active_at, last.at) });
      moved({ event: last.id, link: lastLink.toString("hex") });
      this.#spending.add(head, paid);
    };
  }

  /** Within a commit. */
  #checked(session: SessionId, check: Check): Head {
    const head = this.#sessions.head(session);
    check(endOf(head));
    return head;
  }

  protected async endOf(session: SessionId): Promise<LogEnd | undefined> {
    this.#queue.flush();
    return this.#database.transaction("NORMAL", () =>
      this.#sessions.find(session) === undefined ? undefined : endOf(this.#sessions.head(session)),
    );
  }

  async *events(session: SessionId, range: EventRange = {}): AsyncGenerator<Envelope> {
    this.#queue.flush();
    try {
      let isFirst = true;
      for (const batch of this.#log.read(this.#sessions.head(session), range)) {
        // To read a batch takes the processor, and the reader of a long log has nothing else to wait for.
        if (!isFirst) await nextTurnOfTheLoop();
        isFirst = false;
        yield* batch;
      }
    } catch (error) {
      // Its rows may be missing because another process has removed it.
      if (error instanceof ChainBreak) this.#sessions.head(session);
      throw asStoreError(error);
    }
  }

  async last(session: SessionId, kind: EventKind): Promise<number | undefined> {
    return this.#read(() => this.#log.last(this.#sessions.head(session), kind));
  }

  async count(session: SessionId, kind: EventKind): Promise<number> {
    return this.#read(() => this.#log.count(this.#sessions.head(session), kind));
  }

  /** The head and the events of one moment: others may be appending. */
  #read<T>(work: () => T): T {
    this.#queue.flush();
    try {
      return this.#database.snapshot(work);
    } catch (error) {
      throw asStoreError(error);
    }
  }

  async list(filter: SessionFilter = {}): Promise<readonly SessionRecord[]> {
    this.#queue.flush();
    return this.#sessions.list(filter);
  }

  async get(session: SessionId): Promise<SessionRecord | undefined> {
    this.#queue.flush();
    return this.#sessions.find(session);
  }

  async update(session: SessionId, patch: SessionPatch): Promise<void> {
    const done = this.#queue.add("group", () => this.#sessions.change(this.#sessions.head(session), patch));
    this.#queue.flush();
    await done;
  }

  async keepStart(session: SessionId, start: string): Promise<void> {
    const done = this.#queue.add("group", () => () => this.#sessions.keepStart(session, start));
    this.#queue.flush();
    await done;
  }

  async startOf(session: SessionId): Promise<string | undefined> {
    this.#queue.flush();
    return this.#sessions.startOf(session);
  }

  async remove(session: SessionId): Promise<void> {
    await this.#queue.add("sync", () => {
      const head = this.#sessions.head(session);
      return () => {
        this.#ledger.delete(head);
        this.#spending.delete(head);
        this.#snapshots.delete(head);
        this.#log.delete(head);
        this.#sessions.delete(head);
      };
    });
    this.#database.shrink();
  }

  protected async begin(intent: Intent, check: Check): Promise<void> {
    const { call, session, mutating } = intent;
    const written = this.#queue.add("group", () => {
      this.#ledger.intention(this.#checked(session, check), intent);
      return undefined;
    });
    if (!mutating) return written;
    this.#changing.add(call);
    // The caller may get ready meanwhile: it must only not begin before this is on the disk.
    this.#queue.flush();
    await written;
    await this.#database.syncLog();
  }

  protected async finish(call: CallId, conclusion: Conclusion, fenced: Fenced | undefined): Promise<void> {
    // The intent may still be waiting for its group; then it is not a mutating one.
    const isMutating = this.#changing.delete(call) || this.#ledger.isMutating(call);
    const written = this.#queue.add("group", () => {
      if (fenced !== undefined) this.#checked(fenced.session, fenced.check);
      this.#ledger.conclusion(call, conclusion);
      return undefined;
    });
    if (!isMutating) return written;
    // No caller waits for it: the model receives the result first, and the next call commits it too.
    await written;
    await this.#database.syncLog();
  }

  async orphans(session: SessionId): Promise<readonly Intent[]> {
    this.#queue.flush();
    return this.#ledger.orphans(this.#sessions.head(session));
  }

  async verify(session: SessionId): Promise<Verification> {
    this.#queue.flush();
    try {
      const pages = this.#log.verify(() => this.#sessions.head(session));
      for (;;) {
        const { done, value } = pages.next();
        if (done) return value;
        await nextTurnOfTheLoop();
      }
    } catch (error) {
      throw asStoreError(error);
    }
  }

  async inspect(): Promise<readonly string[]> {
    this.#queue.flush();
    return inspectDatabase(this.#database);
  }

  async expire(session: SessionId, event: number): Promise<void> {
    if (!isEventId(event)) throw new StoreError("invalid", `${event} is not an event id.`);
    this.#queue.flush();
    try {
      while (this.#expirePage(session, event)) await nextTurnOfTheLoop();
    } catch (error) {
      throw asStoreError(error);
    }
    this.#database.shrink();
  }

  /** False if nothing is left to do. An interrupted run continues from here the next time. */
  #expirePage(session: SessionId, event: number): boolean {
    return this.#database.transaction("FULL", () => {
      const head = this.#sessions.head(session);
      const last = Math.min(event, head.last_event);
      if (head.expired_to >= last) return false;
      this.#snapshots.delete(head);
      const { id, ts } = this.#log.expire(head, last);
      this.#sessions.moveExpiry(head, id);
      if (id === last) this.#ledger.dropNotes(head, ts);
      return id < last;
    });
  }

  async snapshot(session: SessionId): Promise<Snapshot | undefined> {
    return this.#read(() => this.#snapshots.read(this.#sessions.head(session)));
  }

  async keepSnapshot(session: SessionId, snapshot: Snapshot): Promise<void> {
    const body = await packSnapshot(snapshot);
    if (body === undefined) return;
    // In its own commit, so that its failure affects no event.
    this.#queue.flush();
    const kept = this.#queue.add("group", () => this.#snapshots.addition(this.#sessions.head(session), snapshot, body));
    this.#queue.flush();
    await kept;
  }

  async spending(filter: SpendingFilter = {}): Promise<readonly Spending[]> {
    this.#queue.flush();
    return this.#spending.list(filter);
  }

  async close(): Promise<void> {
    try {
      this.#queue.flush();
    } finally {
      this.#database.close();
    }
  }
}

const NO_EVENTS: LogEnd = { event: 0, link: "" };

function endOf({ last_event, last_link }: Head): LogEnd {
  return { event: last_event, link: last_link.toString("hex") };
}
