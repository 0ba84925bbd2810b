/**
 * What every session store must do, ours and other people's. The runner's functions are handed in, so that this loads
 * without one: `describeStore("sqlite", openPlace, { describe, it })`.
 */
import type { Envelope } from "../../protocol/envelope.js";
import type { EventKind } from "../../protocol/events.js";
import type { CallId, LogId, SessionId } from "../../protocol/ids.js";
import type { Usage } from "../../protocol/usage.js";
import { DRAFT_RULES } from "./store-draft-rules.js";
import { EXPIRY_RULES } from "./store-expiry-rules.js";
import { LEASE_RULES } from "./store-lease-rules.js";
import { LEDGER_RULES } from "./store-ledger-rules.js";
import { LOG_RULES } from "./store-log-rules.js";
import { SESSION_RULES } from "./store-session-rules.js";
import { SPENDING_RULES } from "./store-spending-rules.js";

export interface SessionFields {
  readonly id: SessionId;
  readonly log: LogId;
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  readonly created_at: string;
  readonly title?: string;
  readonly branch_of?: { readonly session: SessionId; readonly event: number };
}

export interface RecordFields extends SessionFields {
  readonly pinned: boolean;
  readonly last_event: number;
  readonly active_at: string;
  readonly expired_to: number;
  readonly noticed_at?: string;
}

export interface IntentFields {
  readonly call: CallId;
  readonly session: SessionId;
  readonly tool: string;
  readonly args_hash: string;
  readonly mutating: boolean;
  readonly started_at: string;
}

export interface FenceFields {
  readonly session: SessionId;
  readonly head: number;
}

export interface SpendingFields {
  readonly session: SessionId;
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  readonly from: string;
  readonly calls: number;
  readonly usage: Usage;
  readonly elapsed_ms: number;
  readonly usd: number;
  readonly unpriced: number;
}

/** The store's interface as this suite uses it; refusals are errors with a `code`. */
export interface StoreUnderTest {
  create(session: SessionFields, options?: { readonly draft?: true }): Promise<void>;
  publish(session: SessionId): Promise<void>;
  append(
    session: SessionId,
    events: readonly Envelope[],
    durability: "group" | "sync",
    options?: { readonly copied?: true },
  ): Promise<void>;
  events(session: SessionId, range?: { readonly after?: number; readonly limit?: number }): AsyncIterable<Envelope>;
  last(session: SessionId, kind: EventKind): Promise<number | undefined>;
  list(filter?: {
    readonly cwd?: string;
    readonly pinned?: boolean;
    readonly limit?: number;
  }): Promise<readonly RecordFields[]>;
  get(session: SessionId): Promise<RecordFields | undefined>;
  update(
    session: SessionId,
    patch: {
      readonly title?: string | null;
      readonly provider?: string;
      readonly model?: string;
      readonly pinned?: boolean;
      readonly ended?: "idle" | "user" | "error" | "binary-shutdown" | null;
      readonly noticed_at?: string | null;
    },
  ): Promise<void>;
  remove(session: SessionId): Promise<void>;
  lease(session: SessionId): Promise<{ release(): Promise<void> }>;
  intend(intent: IntentFields, fence?: FenceFields): Promise<void>;
  conclude(
    call: CallId,
    conclusion: {
      readonly outcome: "ok" | "error" | "denied" | "cancelled" | "timeout" | "skipped";
      readonly completed_at: string;
      readonly result_event?: number;
      readonly note?: string;
    },
    fence?: FenceFields,
  ): Promise<void>;
  orphans(session: SessionId): Promise<readonly IntentFields[]>;
  verify(session: SessionId): Promise<{ readonly ok: boolean }>;
  expire(session: SessionId, event: number): Promise<void>;
  spending(filter?: {
    readonly session?: SessionId;
    readonly cwd?: string;
    readonly since?: string;
  }): Promise<readonly SpendingFields[]>;
  close(): Promise<void>;
}

/** A place where stores can be opened, one after another or at once; all of them see the same sessions. */
export interface StorePlace {
  open(): Promise<StoreUnderTest>;
  /** Every store that was opened has been closed. */
  discard(): Promise<void>;
}

export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
}

const RULES: readonly Rule[] = [
  ...LOG_RULES,
  ...SESSION_RULES,
  ...LEASE_RULES,
  ...DRAFT_RULES,
  ...LEDGER_RULES,
  ...EXPIRY_RULES,
  ...SPENDING_RULES,
];

export function describeStore(name: string, openPlace: () => Promise<StorePlace>, runner: TestRunner): void {
  runner.describe(`session store ${name}`, () => {
    for (const [title, body] of RULES) {
      runner.it(title, async () => {
        const place = await openPlace();
        const opened: StoreUnderTest[] = [];
        const open = async () => {
          const store = await place.open();
          opened.push(store);
          return store;
        };
        try {
          await body(open);
        } finally {
          for (const store of opened) await store.close();
          await place.discard();
        }
      });
    }
  });
}

export type Open = () => Promise<StoreUnderTest>;
/** One thing that every store does, with the feature it belongs to. */
export type Rule = readonly [title: string, body: (open: Open) => Promise<void>];
