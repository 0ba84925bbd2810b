/**
 * Stores sessions. Every store follows these rules; `testkit/conformance/store.ts` checks them.
 *
 * 1. Events are only appended. The ids of a session are 1, 2, 3 …: an append that leaves a gap or repeats an id is refused as a
 *    whole.
 * 2. When an append resolves, its events survive the end of the process; with `sync` they survive a power cut.
 * 3. Readers see every append that was called before them on the same store, even if it has not resolved.
 * 4. A call has one intent and one conclusion. The intent of a mutating call is on the disk before `intend` resolves.
 * 5. If a writer passes the head that it knows (`Fence`) and the log has another one, the same commit refuses it with `conflict`.
 * 6. A session is leased to one process (sessions/lease.ts). A process that has lost its lease writes nothing to the session.
 * 7. A read returns what was written, or what `expire` left of it, or an error: never anything else.
 */
import type { Message } from "../protocol/content.js";
import type { Envelope, EnvelopeOf } from "../protocol/envelope.js";
import type { EventKind, SessionEndReason, ToolStatus } from "../protocol/events.js";
import type { CallId, LogId, SessionId, TurnId } from "../protocol/ids.js";
import type { Usage } from "../protocol/usage.js";

/** `group`: written with others within a few milliseconds. `sync`: written and on the disk now. */
export type Durability = "group" | "sync";

export interface NewSession {
  readonly id: SessionId;
  readonly log: LogId;
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  /** RFC 3339, UTC, milliseconds; so are all times here. */
  readonly created_at: string;
  readonly title?: string;
  /** The name of the profile that it began with. */
  readonly profile?: string;
  /** The session and the last of its events that this one began as a copy of. */
  readonly branch_of?: { readonly session: SessionId; readonly event: number };
  /** The call of another session that this one works for: it is a subagent. */
  readonly parent?: { readonly session: SessionId; readonly turn: TurnId; readonly call: CallId };
}

export type NewBranch = NewSession & Required<Pick<NewSession, "branch_of">>;

export interface SessionRecord extends NewSession {
  readonly pinned: boolean;
  /** 0 when there is no event yet. */
  readonly last_event: number;
  /** Time of the last event, or of the creation. */
  readonly active_at: string;
  /** Events up to this one have lost their content (sessions/retention.ts); 0 if all content is there. */
  readonly expired_to: number;
  /** The time when Oxbow told the user that this session is about to lose content. */
  readonly noticed_at?: string;
  readonly ended?: SessionEndReason;
}

export interface SessionPatch {
  /** null removes it. */
  readonly title?: string | null;
  readonly provider?: string;
  readonly model?: string;
  readonly pinned?: boolean;
  /** null if the session continues. */
  readonly ended?: SessionEndReason | null;
  /** null removes it, because the session was used again. */
  readonly noticed_at?: string | null;
}

export interface SessionFilter {
  readonly cwd?: string;
  readonly pinned?: boolean;
  /** Only subagents of this session, or only sessions that are not subagents. */
  readonly parent?: SessionId | "none";
  readonly limit?: number;
}

export interface EventRange {
  /** Events with a greater id. */
  readonly after?: number;
  readonly limit?: number;
}

export interface AppendOptions {
  /** The events are copied from another session or program: their cost does not count again. */
  readonly copied?: true;
}

/** The cost of one session and model within a quarter of an hour, so that callers can add up days of any time zone. */
export interface Spending {
  readonly session: SessionId;
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  /** The time when the quarter of an hour began. */
  readonly from: string;
  readonly calls: number;
  readonly usage: Usage;
  readonly elapsed_ms: number;
  /** The cost of the calls with a known price. */
  readonly usd: number;
  /** The number of calls without a known price. */
  readonly unpriced: number;
}

export const SPENDING_MS = 15 * 60_000;

export interface SpendingFilter {
  readonly session?: SessionId;
  readonly cwd?: string;
  /** Quarters of an hour that ended after this time. */
  readonly since?: string;
}

export interface Intent {
  readonly call: CallId;
  readonly session: SessionId;
  readonly tool: string;
  readonly args_hash: string;
  readonly mutating: boolean;
  /** Its changes are applied as a whole or not at all. */
  readonly whole?: boolean | undefined;
  readonly started_at: string;
}

/** The log as the writer of an intent or a conclusion knows it: the last event of the session's log, including its own unacknowledged ones. */
export interface Fence {
  readonly session: SessionId;
  readonly head: number;
}

export interface Conclusion {
  readonly outcome: ToolStatus;
  readonly completed_at: string;
  /** The event that holds the result. */
  readonly result_event?: number;
  /** The user's answer about a call without a recorded result. */
  readonly note?: string;
}

/** The conversation of a log up to an event (sessions/snapshot.ts), so that a resume reads only the events behind it. */
export interface Snapshot {
  /** Reading began behind this event: 0, or what has expired or a summary replaces. */
  readonly from: number;
  /** The last event that it covers; no turn is open there and no input waits. */
  readonly to: number;
  /** The number of turns between the two. */
  readonly turns: number;
  readonly messages: readonly Message[];
  /** The event with which each of them begins; 0 for those that have none (message-origin.ts). */
  readonly origins: readonly number[];
}

/** A part of what authenticates a snapshot: it changes when the same events make other messages. */
export const SNAPSHOT_FORM = "snapshot 1";

/** A snapshot is due after so many events at least; reading fewer is fast enough. */
export const SNAPSHOT_EVENTS = 1000;
/** And after this share of the log, because each snapshot holds the whole conversation. */
const SNAPSHOT_SHARE = 16;

/** Says whether so many events behind the last snapshot, of a log that ends with `last`, need a new one. */
export function isSnapshotDue(behind: number, last: number, every = SNAPSHOT_EVENTS): boolean {
  return behind >= Math.max(every, last / SNAPSHOT_SHARE);
}

export function isSummary(event: Envelope): event is EnvelopeOf<"CompactionTriggered"> {
  return event.kind === "CompactionTriggered" && event.payload.summary !== undefined;
}

export type LogProblem = "changed" | "missing" | "truncated" | "added" | "unreadable" | "head";

export type Verification =
  | { readonly ok: true; readonly events: number }
  | { readonly ok: false; readonly problem: LogProblem; readonly event_id: number; readonly message: string };

export interface CreateOptions {
  /** Only this store sees it until `publish`. It needs the lease of the session; the leftovers of a crash are removed. */
  readonly draft?: true;
  /** Its first events, in the same commit: no process and no crash ever shows the session without them. They are on the disk then. */
  readonly events?: readonly Envelope[];
}

/** A session that this process has taken (sessions/lease.ts). */
export interface Lease {
  release(): Promise<void>;
}

export interface SessionStore {
  create(session: NewSession, options?: CreateOptions): Promise<void>;
  /**
   * Creates a session that begins with the events of another one up to the end of a turn (`branch_of`), and with the user's edits of
   * its messages. The ids of its turns and calls are new (sessions/branch.ts), its cost does not count again, and it stands alone: what
   * happens to the other one does not change it. It appears as a whole. Refuses with `conflict` an id that exists.
   */
  branch(session: NewBranch): Promise<void>;
  /** Makes a draft visible to all processes, in one commit. */
  publish(session: SessionId): Promise<void>;
  append(
    session: SessionId,
    events: readonly Envelope[],
    durability: Durability,
    options?: AppendOptions,
  ): Promise<void>;
  /** In order. Throws a `damaged` error at the first event that differs from what was written. */
  events(session: SessionId, range?: EventRange): AsyncIterable<Envelope>;
  /** The id of the last event of a kind; searches from the end, so recent events are found fast. */
  last(session: SessionId, kind: EventKind): Promise<number | undefined>;
  /** Counts how many events of a kind there are. Absent if the store cannot count fast. */
  count?(session: SessionId, kind: EventKind): Promise<number>;
  /** The live process that has the session, perhaps this one. Absent if the store has no leases. */
  holder?(session: SessionId): { readonly pid: number | undefined } | undefined;
  /** The most recently active first. */
  list(filter?: SessionFilter): Promise<readonly SessionRecord[]>;
  /** Sessions that exist but cannot be listed, with the reason. Absent if the store never has any. */
  unlisted?(): Promise<readonly { readonly id: SessionId; readonly message: string }[]>;
  get(session: SessionId): Promise<SessionRecord | undefined>;
  update(session: SessionId, patch: SessionPatch): Promise<void>;
  /** The session, its events and its ledger. */
  remove(session: SessionId): Promise<void>;
  /** Takes the session for this process, whether it exists yet or not. Refuses with `leased` while another process has it. */
  lease(session: SessionId): Promise<Lease>;
  /** Before a tool starts. Refuses a call that already has an intent: it must not run again. */
  intend(intent: Intent, fence?: Fence): Promise<void>;
  /** After it ended. */
  conclude(call: CallId, conclusion: Conclusion, fence?: Fence): Promise<void>;
  /** Calls that were started and have no end, oldest first. */
  orphans(session: SessionId): Promise<readonly Intent[]>;
  /** Problems of the store itself, apart from its sessions: one sentence each. Absent if there is nothing else to check. */
  inspect?(): Promise<readonly string[]>;
  verify(session: SessionId): Promise<Verification>;
  /**
   * Permanently drops the content of the events up to and including `event`; their metadata stays (sessions/expired.ts), and the
   * session still verifies.
   */
  expire(session: SessionId, event: number): Promise<void>;
  /**
   * For stores whose messages users can edit between turns: the edited conversation, undefined without edits.
   * Stores without this have only the events.
   */
  editedConversation?(session: SessionId): Promise<readonly Message[] | undefined>;
  /** People may change everything that is stored: no permission may come from there. */
  readonly isEditable?: boolean;
  /** Keeps the surroundings of the terminal that a session works for, as text. Absent if the store is not encrypted. */
  keepStart?(session: SessionId, start: string): Promise<void>;
  /** Tells what was kept last. */
  startOf?(session: SessionId): Promise<string | undefined>;
  /** The last snapshot; undefined without one, and if it is damaged or fits another log. It is a copy: the log is authoritative. */
  snapshot?(session: SessionId): Promise<Snapshot | undefined>;
  /** Keeps a snapshot instead of the one before. `expire` drops it. Refuses with `conflict` one that the log does not reach. */
  keepSnapshot?(session: SessionId, snapshot: Snapshot): Promise<void>;
  /** The spending according to the CostIncremented events; oldest first. The time depends on the number of rows, not of events. */
  spending(filter?: SpendingFilter): Promise<readonly Spending[]>;
  /** Writes pending appends first. */
  close(): Promise<void>;
}
