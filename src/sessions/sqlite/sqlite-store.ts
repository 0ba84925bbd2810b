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
import { ChainBreak } from "../chain-break.js";
import { SessionLeases } from "../lease.js";
import {
  type AppendOptions,
  type Conclusion,
  type CreateOptions,
  type Durability,
  type EventRange,
  type Fence,
  type Intent,
  type Lease,
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
import { outOfOrder } from "../write-conflict.js";
import { Blobs } from "./blobs.js";
import { CallCommits } from "./call-commits.js";
import { asStoreError } from "./chain-break.js";
import { CommitQueue, type Work } from "./commit-queue.js";
import { EventLog, prepareEvent } from "./event-log.js";
import { isEventId } from "./event-row.js";
import { inspectDatabase } from "./inspect.js";
import { chainKey, databaseKey } from "./keys.js";
import { Ledger } from "./ledger.js";
import { MIGRATIONS, migrate } from "./migrations.js";
import { Names } from "./names.js";
import { SessionHeads } from "./session-heads.js";
import { SessionTable } from "./session-table.js";
import { packSnapshot, Snapshots } from "./snapshots.js";
import { paidCalls, SpendingTable } from "./spending-table.js";
import { sweepDrafts } from "./sweep-drafts.js";

export interface SqliteStoreOptions {
  readonly path: string;
  /** 32 bytes; `resolveKey` finds them. */
  readonly key: Uint8Array;
  readonly clock?: Clock;
  /** How long a `group` append may wait for company. */
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

class SqliteStore implements SessionStore {
  readonly #database: Database;
  readonly #queue: CommitQueue;
  readonly #sessions: SessionTable;
  readonly #log: EventLog;
  readonly #snapshots: Snapshots;
  readonly #ledger: Ledger;
  readonly #leases: SessionLeases;
  readonly #heads: SessionHeads;
  readonly #calls: CallCommits;
  readonly #spending: SpendingTable;

  constructor(database: Database, { clock, groupDelayMs, chainKey, leases }: Parts) {
    this.#database = database;
    this.#leases = leases;
    const names = new Names(database);
    this.#sessions = new SessionTable(database, chainKey);
    this.#heads = new SessionHeads(this.#sessions, leases);
    const tables = { database, names, blobs: new Blobs(database) };
    this.#log = new EventLog(tables);
    this.#snapshots = new Snapshots(tables);
    this.#ledger = new Ledger(database, names);
    this.#spending = new SpendingTable(database, names);
    const onRollback = () => {
      names.forget();
      this.#log.forget();
      this.#heads.rollBack();
    };
    const onCommit = () => this.#heads.commit();
    const together = (work: () => void) => this.#sessions.together(work);
    this.#queue = new CommitQueue({ database, clock, delayMs: groupDelayMs, together, onRollback, onCommit });
    const parts = { database, queue: this.#queue, sessions: this.#sessions };
    this.#calls = new CallCommits({ ...parts, ledger: this.#ledger, heads: this.#heads });
  }

  async create(session: NewSession, options: CreateOptions = {}): Promise<void> {
    const sweep = () => sweepDrafts(this.#sessions, this.#leases, (draft) => this.remove(draft));
    if (options.draft) await sweep();
    const addFirst = this.#addition(session.id, options.events ?? []);
    await this.#queue.add("sync", () => {
      const insert = this.#sessions.insertion(session, options);
      this.#leases.check(session.id);
      checkFollows(session.id, options.events ?? [], 0);
      return () => {
        insert();
        addFirst()?.();
      };
    });
    if (!options.draft) await sweep();
  }

  async branch(session: NewBranch): Promise<void> {
    const { session: from, event } = session.branch_of;
    await this.#queue.add("sync", () => {
      const source = this.#sessions.head(from);
      if (!this.#log.endsTurn(source, event)) throw notABoundary(event);
      const insert = this.#sessions.insertion(session);
      this.#leases.check(session.id);
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

  async append(
    session: SessionId,
    events: readonly Envelope[],
    durability: Durability,
    options: AppendOptions = {},
  ): Promise<void> {
    await this.#queue.add(durability, this.#addition(session, events, options));
  }

  #addition(session: SessionId, events: readonly Envelope[], { copied }: AppendOptions = {}): Work {
    const paid = copied ? [] : paidCalls(events);
    const prepared = events.map((event) => prepareEvent(session, event));
    const last = prepared.at(-1);
    return () => {
      const head = this.#heads.checked(session);
      checkFollows(session, prepared, head.last_event);
      return () => {
        if (last === undefined) return;
        const lastLink = this.#log.insert(head, prepared);
        const activeAt = Math.max(head.active_at, last.ts);
        this.#sessions.moveHead(head, { lastEvent: last.id, lastLink, activeAt });
        this.#heads.move(session, last.id, lastLink);
        this.#spending.add(head, paid);
      };
    };
  }

  async *events(session: SessionId, range: EventRange = {}): AsyncGenerator<Envelope> {
    this.#queue.flush();
    try {
      for (const batch of this.#log.read(this.#sessions.head(session), range)) yield* batch;
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

  readonly holder = (session: SessionId) => this.#leases.holder(session);

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

  lease(session: SessionId): Promise<Lease> {
    return this.#heads.lease(session, (learn) => {
      this.#queue.flush();
      this.#database.transaction("NORMAL", learn);
    });
  }

  intend(intent: Intent, fence?: Fence): Promise<void> {
    return this.#calls.intend(intent, fence);
  }

  conclude(call: CallId, conclusion: Conclusion, fence?: Fence): Promise<void> {
    return this.#calls.conclude(call, conclusion, fence);
  }

  orphans(session: SessionId): Promise<readonly Intent[]> {
    return this.#calls.orphans(session);
  }

  async verify(session: SessionId): Promise<Verification> {
    return this.#read(() => this.#log.verify(this.#sessions.head(session)));
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

function checkFollows(session: SessionId, events: readonly { readonly id: number }[], last: number): void {
  for (const [i, { id }] of events.entries()) {
    const expected = last + 1 + i;
    if (id !== expected) throw outOfOrder(session, id, expected);
  }
}
