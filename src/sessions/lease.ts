/**
 * A session is leased to one process at a time. The lease is a lock file beside the store, so it works the same way in
 * every store.
 *
 * 1. A process takes the lease before it reads a session in order to continue it, and before it creates one. It releases the lease
 *    when it has written everything. Commands that only read need no lease.
 * 2. While a live process has the lease, another one is refused at once, with the name of the holder. It has written nothing.
 * 3. A lease is taken over only when its holder has certainly ended: on the same system by process id, start time and boot; from another
 *    system when the lease was not renewed for two minutes.
 * 4. If the lease was taken over (a machine that slept), the old holder can write no event, no intent and no end of a call:
 *    each commit checks the lease first. That is final for this holder.
 * 5. After a process takes a lease, it makes one commit of the store. It therefore sees everything that an earlier holder was committing
 *    at that moment.
 */
import type { Clock } from "../base/clock.js";
import type { SessionId } from "../protocol/ids.js";
import { type HeldLock, holdLock, LockBusy, type LockHolder, lockHolder, sweepLocks } from "../system/file-lock.js";
import { type Lease, StoreError } from "./store.js";

export interface LeasesOptions {
  readonly folder: string;
  readonly clock: Clock;
}

/** The leases of one store. */
export class SessionLeases {
  readonly #options: LeasesOptions;
  readonly #held = new Map<SessionId, HeldLock>();
  #isSwept = false;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  async take(session: SessionId): Promise<Lease> {
    const lock = await this.#hold(session);
    this.#held.set(session, lock);
    if (!this.#isSwept) {
      this.#isSwept = true;
      this.#sweep();
    }
    return {
      release: async () => {
        if (this.#held.get(session) === lock) this.#held.delete(session);
        lock.release();
      },
    };
  }

  /** This store has the lease. */
  has(session: SessionId): boolean {
    return this.#held.has(session);
  }

  /** A live process has the session, perhaps this one. */
  isLeased(session: SessionId): boolean {
    return this.holder(session) !== undefined;
  }

  holder(session: SessionId): LockHolder | undefined {
    return lockHolder(this.#path(session));
  }

  /** Within a commit. A caller without a lease needs none: it may be a test, or a copy that no other process knows. */
  check(session: SessionId): void {
    if (this.#held.get(session)?.isHeld() === false) {
      throw new StoreError("conflict", `Another process has taken over ${session}.`);
    }
  }

  async #hold(session: SessionId): Promise<HeldLock> {
    const { clock } = this.#options;
    try {
      return await holdLock(this.#path(session), { clock, patienceMs: 0 });
    } catch (error) {
      if (error instanceof LockBusy) throw leased(session, error.holder, clock.wall());
      const { message } = error as Error;
      throw new StoreError("unavailable", `Oxbow cannot take the lease of ${session}: ${message}.`, { cause: error });
    }
  }

  #sweep(): void {
    try {
      sweepLocks(this.#options.folder, this.#options);
    } catch {
      // Old leases only take space. The next process sweeps them.
    }
  }

  #path(session: SessionId): string {
    return `${this.#options.folder}/${session}`;
  }
}

function leased(session: SessionId, holder: LockHolder, now: number): StoreError {
  const isOurs = holder.pid === process.pid;
  const where = isOurs ? "already open in this process" : `open in another process (${describe(holder, now)})`;
  return new StoreError("leased", `Session ${session} is ${where}.`);
}

/** `pid 123, since 12:04` */
function describe({ pid, since }: LockHolder, now: number): string {
  const who = pid === undefined ? "on another machine or in a container" : `pid ${pid}`;
  return since === undefined ? who : `${who}, since ${localTime(since, now)}`;
}

function localTime(since: number, now: number): string {
  const [day, today] = [new Date(since), new Date(now)];
  const time = `${pad(day.getHours())}:${pad(day.getMinutes())}`;
  if (day.toDateString() === today.toDateString()) return time;
  return `${day.getFullYear()}-${pad(day.getMonth() + 1)}-${pad(day.getDate())} ${time}`;
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}
