/**
 * The core of every session store: what a back end does not decide. A back end is a folder with one class that extends `LogStore` and
 * writes rows (`sqlite/`, `files/`).
 *
 * 1. An event, an intent and the end of a call are written in a commit of the back end. Within that commit the core looks at the end
 *    of the log as it is there, and refuses: a gap or a repetition, a lost lease, an end that this process did not leave, an outdated fence.
 * 2. Event ids alone do not distinguish two histories of the same length. The link of the last event does: what a store's chain, or
 *    the digest of its last line, says about it. Nothing is checked for sessions that this process has not leased.
 * 3. What is wrong with a value is found here, before a commit begins.
 */
import type { Envelope } from "../protocol/envelope.js";
import type { EventKind } from "../protocol/events.js";
import type { CallId, SessionId } from "../protocol/ids.js";
import type { SessionLeases } from "./lease.js";
import { checkCall, checkFollows, checkSession, overtaken, type PreparedEvent, prepareEvent } from "./log-rules.js";
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
} from "./store.js";
import { toMilliseconds } from "./timestamp.js";

/** Describes where a log ends. */
export interface LogEnd {
  /** 0 when there is no event. */
  readonly event: number;
  /** Holds what distinguishes this event from another one with its id. */
  readonly link: string;
}

/** Looks at the end of a log within a commit; throws to refuse it. */
export type Check = (end: LogEnd) => void;

export interface Fenced {
  readonly session: SessionId;
  readonly check: Check;
}

/** Describes what an append brings to a commit. */
export interface Addition {
  readonly events: readonly PreparedEvent[];
  /** Their cost does not count again. */
  readonly copied: boolean;
  readonly check: Check;
  /** Called within the commit, with the end that the events leave. */
  readonly moved: Check;
}

/** Describes what a new session begins with. */
export interface Beginning extends Addition {
  /** Only this store sees it until it is published. */
  readonly isDraft: boolean;
}

export abstract class LogStore implements SessionStore {
  protected readonly leases: SessionLeases;
  /** The ends of leased logs as this process left them. */
  readonly #ends = new Map<SessionId, LogEnd>();
  /** Those that the running commit has moved. */
  readonly #moved = new Map<SessionId, LogEnd>();

  constructor(leases: SessionLeases) {
    this.leases = leases;
  }

  /** Writes the row of a session, with its first events, in one commit. */
  protected abstract insert(session: NewSession, beginning: Beginning): Promise<void>;
  protected abstract write(session: SessionId, addition: Addition, durability: Durability): Promise<void>;
  /** Writes an intent; one that changes something is on the disk afterwards. Refuses a call that has one. */
  protected abstract begin(intent: Intent, check: Check): Promise<void>;
  /** Writes the end of a call; `fenced` names the session of the call, when its log is to be looked at. */
  protected abstract finish(call: CallId, conclusion: Conclusion, fenced: Fenced | undefined): Promise<void>;
  /** Reads where a log ends, after everything that an earlier holder was committing; undefined without a session. */
  protected abstract endOf(session: SessionId): Promise<LogEnd | undefined>;

  abstract branch(session: NewBranch): Promise<void>;
  abstract publish(session: SessionId): Promise<void>;
  abstract events(session: SessionId, range?: EventRange): AsyncIterable<Envelope>;
  abstract last(session: SessionId, kind: EventKind): Promise<number | undefined>;
  abstract count(session: SessionId, kind: EventKind): Promise<number>;
  abstract list(filter?: SessionFilter): Promise<readonly SessionRecord[]>;
  abstract get(session: SessionId): Promise<SessionRecord | undefined>;
  abstract update(session: SessionId, patch: SessionPatch): Promise<void>;
  abstract remove(session: SessionId): Promise<void>;
  abstract orphans(session: SessionId): Promise<readonly Intent[]>;
  abstract verify(session: SessionId): Promise<Verification>;
  abstract expire(session: SessionId, event: number): Promise<void>;
  abstract snapshot(session: SessionId): Promise<Snapshot | undefined>;
  abstract keepSnapshot(session: SessionId, snapshot: Snapshot): Promise<void>;
  abstract spending(filter?: SpendingFilter): Promise<readonly Spending[]>;
  abstract close(): Promise<void>;

  readonly holder = (session: SessionId) => this.leases.holder(session);

  async create(session: NewSession, { draft, events = [] }: CreateOptions = {}): Promise<void> {
    checkSession(session);
    const addition = this.#addition(session.id, events, {});
    checkFollows(session.id, addition.events, 0);
    await this.insert(session, {
      ...addition,
      check: () => this.leases.check(session.id),
      isDraft: draft === true,
    });
  }

  async append(
    session: SessionId,
    events: readonly Envelope[],
    durability: Durability,
    options: AppendOptions = {},
  ): Promise<void> {
    await this.write(session, this.#addition(session, events, options), durability);
  }

  async intend(intent: Intent, fence?: Fence): Promise<void> {
    checkCall(intent.call);
    toMilliseconds(intent.started_at);
    await this.begin(intent, (end) => this.#checkFence(fence, end));
  }

  async conclude(call: CallId, conclusion: Conclusion, fence?: Fence): Promise<void> {
    toMilliseconds(conclusion.completed_at);
    const check = (end: LogEnd) => this.#checkFence(fence, end);
    await this.finish(call, conclusion, fence && { session: fence.session, check });
  }

  async lease(session: SessionId): Promise<Lease> {
    const lease = await this.leases.take(session);
    try {
      this.#ends.set(session, (await this.endOf(session)) ?? { event: 0, link: "" });
    } catch (error) {
      await lease.release();
      throw error;
    }
    return {
      release: async () => {
        this.#ends.delete(session);
        this.#moved.delete(session);
        await lease.release();
      },
    };
  }

  /** The back end has committed what moved the ends. */
  protected readonly committed = (): void => {
    for (const [session, end] of this.#moved) this.#ends.set(session, end);
    this.#moved.clear();
  };

  protected readonly rolledBack = (): void => this.#moved.clear();

  #addition(session: SessionId, events: readonly Envelope[], { copied }: AppendOptions): Addition {
    const prepared = events.map((event) => prepareEvent(session, event));
    return {
      events: prepared,
      copied: copied === true,
      check: (end) => {
        this.#checkEnd(session, end);
        checkFollows(session, prepared, end.event);
      },
      moved: (end) => {
        if (this.#ends.has(session)) this.#moved.set(session, end);
      },
    };
  }

  #checkFence(fence: Fence | undefined, end: LogEnd): void {
    if (fence === undefined) return;
    this.#checkEnd(fence.session, end);
    if (end.event !== fence.head) throw overtaken(fence, end.event);
  }

  /** A conflict stays one: the log never gets its old end back. */
  #checkEnd(session: SessionId, end: LogEnd): void {
    this.leases.check(session);
    const known = this.#moved.get(session) ?? this.#ends.get(session);
    // An empty log has no link.
    if (known === undefined || (known.event === end.event && (end.event === 0 || known.link === end.link))) return;
    throw new StoreError(
      "conflict",
      `The log of ${session} ends with event ${end.event} of another process; this one knows it up to event ${known.event}.`,
    );
  }
}
