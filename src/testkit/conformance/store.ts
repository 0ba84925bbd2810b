/**
 * Describes what every session store must do, ours and third-party ones. Callers pass the functions of the test runner, so that this module
 * loads without one: `describeStore("sqlite", openPlace, { describe, it })`.
 */
import type { SessionStore } from "../../base/session-store.js";
import { BRANCH_RULES } from "./store-branch-rules.js";
import { DRAFT_RULES } from "./store-draft-rules.js";
import { EXPIRY_RULES } from "./store-expiry-rules.js";
import { LEASE_RULES } from "./store-lease-rules.js";
import { LEDGER_RULES } from "./store-ledger-rules.js";
import { LOG_RULES } from "./store-log-rules.js";
import { SESSION_RULES } from "./store-session-rules.js";
import { SPENDING_RULES } from "./store-spending-rules.js";

/** A place where stores can be opened, one after another or at once; all of them see the same sessions. */
export interface StorePlace {
  open(): Promise<SessionStore>;
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
  ...BRANCH_RULES,
  ...LEDGER_RULES,
  ...EXPIRY_RULES,
  ...SPENDING_RULES,
];

export function describeStore(name: string, openPlace: () => Promise<StorePlace>, runner: TestRunner): void {
  runner.describe(`session store ${name}`, () => {
    for (const [title, body] of RULES) {
      runner.it(title, async () => {
        const place = await openPlace();
        const opened: SessionStore[] = [];
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

export type Open = () => Promise<SessionStore>;
/** One requirement for every store, with its feature. */
export type Rule = readonly [title: string, body: (open: Open) => Promise<void>];
