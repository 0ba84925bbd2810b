/**
 * Writes to one session, in the order of the requests.
 *
 * 1. While one batch is being written the next one gathers. A batch is written under the session's lock; its members are
 *    refused one by one, and fail together from the first that the disk fails.
 * 2. `group` is acknowledged when it has been handed to the operating system. `sync` waits until everything this process wrote to
 *    the session is on the disk.
 */
import type { Clock } from "../../base/clock.js";
import { isRefusal } from "../log-rules.js";
import type { Durability } from "../store.js";
import { withLock } from "./lock.js";
import { OpenSession, type SessionState } from "./open-session.js";

/** Returns how durable it has to be. */
export type Job = (session: OpenSession) => Promise<Durability>;

interface Waiting {
  readonly job: Job;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class SessionWriter {
  readonly #state: SessionState;
  readonly #lock: string;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;

  constructor(state: SessionState, { lock, clock }: { readonly lock: string; readonly clock: Clock }) {
    this.#state = state;
    this.#lock = lock;
    this.#clock = clock;
  }

  add(job: Job): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** All earlier requests have been written or refused. */
  async idle(): Promise<void> {
    if (this.#draining !== undefined) await this.add(async () => "group").catch(() => {});
  }

  /** Syncs the rest to the disk and releases the lock: a job is acknowledged before its batch has ended. */
  async flush(): Promise<void> {
    await this.idle();
    if (this.#state.unsynced.size > 0) await this.add(async () => "sync");
    await this.#draining;
  }

  async #drain(): Promise<void> {
    // Writes of one tick belong to one batch.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await withLock(this.#lock, { clock: this.#clock }, () => this.#write(batch));
      } catch (error) {
        // Acknowledged writes are not affected.
        for (const { reject } of batch) reject(error);
      }
    }
    this.#draining = undefined;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const session = new OpenSession(this.#state);
    const toSync: Waiting[] = [];
    let failed: unknown;
    try {
      for (const each of batch) {
        if (failed !== undefined) {
          each.reject(failed);
          continue;
        }
        try {
          if ((await each.job(session)) === "sync") toSync.push(each);
          else each.resolve();
        } catch (error) {
          if (!isRefusal(error)) failed = error;
          each.reject(error);
        }
      }
      if (toSync.length > 0) await session.sync();
      for (const { resolve } of toSync) resolve();
      await session.recordActivity();
    } catch (error) {
      for (const { reject } of toSync) reject(error);
    } finally {
      await session.close();
    }
  }
}
