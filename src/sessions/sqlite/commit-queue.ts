/**
 * Group commit: work that arrives within a few milliseconds shares a transaction.
 *
 * 1. Work runs in the order it was added. `sync` work takes everything that waits along, at once.
 * 2. Work that throws a StoreError before it has written anything is refused alone; any other error undoes the whole transaction
 *    and every piece of it fails.
 * 3. A promise resolves only after the commit.
 */
import type { Clock } from "../../base/clock.js";
import type { Database } from "../../system/sqlite/database.js";
import { isRefusal } from "../log-rules.js";
import type { Durability } from "../store.js";

/** Checks everything first, then returns what writes; or has written all it had to. */
export type Work = () => (() => void) | undefined;

interface Waiting {
  readonly work: Work;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface CommitQueueOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly delayMs: number;
  /** Put around what a transaction does. */
  readonly together: (work: () => void) => void;
  /** A transaction was undone: forget what was learnt in it. */
  readonly onRollback: () => void;
  readonly onCommit: () => void;
}

const WAITING_MAX = 1000;

export class CommitQueue {
  readonly #options: CommitQueueOptions;
  #waiting: Waiting[] = [];
  #cancelTimer: (() => void) | undefined;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  add(durability: Durability, work: Work): Promise<void> {
    const { clock, delayMs } = this.#options;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      if (durability === "sync") this.#commit("FULL");
      else if (this.#waiting.length >= WAITING_MAX) this.flush();
      else this.#cancelTimer ??= clock.after(delayMs, () => this.flush());
    });
  }

  flush(): void {
    if (this.#waiting.length > 0) this.#commit("NORMAL");
  }

  #commit(synchronous: "NORMAL" | "FULL"): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    const refused = new Map<Waiting, unknown>();
    try {
      const { database, together } = this.#options;
      database.transaction(synchronous, () => {
        together(() => {
          for (const each of batch) perform(each, refused);
        });
      });
    } catch (error) {
      this.#options.onRollback();
      for (const { reject } of batch) reject(error);
      return;
    }
    this.#options.onCommit();
    for (const each of batch) {
      if (refused.has(each)) each.reject(refused.get(each));
      else each.resolve();
    }
  }
}

function perform(waiting: Waiting, refused: Map<Waiting, unknown>): void {
  let write: (() => void) | undefined;
  try {
    write = waiting.work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    refused.set(waiting, error);
    return;
  }
  write?.();
}
