/**
 * Ends a session that no client uses: no reader, no turn, and no command for a while.
 *
 * 1. The timer runs only while there is no reader, so a program with one attached client can end at any time.
 * 2. A pinned session stays.
 */
import type { Clock } from "../base/clock.js";
import type { SessionId } from "../protocol/ids.js";

export interface IdlePolicy {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly isPinned?: (session: SessionId) => Promise<boolean>;
}

export interface WatchedSession {
  readonly session: SessionId;
  readonly hasReaders: () => boolean;
  readonly isBusy: () => boolean;
  readonly isOpen: () => boolean;
  readonly end: () => Promise<void>;
}

export class IdleWatch {
  readonly #policy: IdlePolicy;
  readonly #watched: WatchedSession;
  #stop = () => {};

  constructor(policy: IdlePolicy, watched: WatchedSession) {
    this.#policy = policy;
    this.#watched = watched;
  }

  /** A reader came or left, a command came, or the session was closed. */
  used(): void {
    this.#stop();
    this.#stop = () => {};
    if (!this.#isUnattended()) return;
    this.#stop = this.#policy.clock.after(this.#policy.timeoutMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { session, isBusy, end } = this.#watched;
    const isPinned = (await this.#policy.isPinned?.(session).catch(() => true)) ?? false;
    if (!this.#isUnattended()) return;
    // A turn without readers goes on; the timer looks again later.
    if (isBusy() || isPinned) this.used();
    else await end();
  }

  #isUnattended(): boolean {
    return this.#watched.isOpen() && !this.#watched.hasReaders();
  }
}
