/**
 * The one process of a home that listens for clients.
 *
 * 1. It holds a lock that ends with it, however it ends. Only the holder removes a socket: a stale one never stays in the way, and a live one
 *    is never removed.
 * 2. Other processes of this home work without listening, or attach.
 */
import { rmSync } from "node:fs";
import type { Clock } from "../base/clock.js";
import { type HeldLock, holdLock, LockBusy } from "../system/file-lock.js";
import type { ControlPlace } from "./control-place.js";

export class ControlOwner {
  readonly #place: ControlPlace;
  readonly #lock: HeldLock;

  private constructor(place: ControlPlace, lock: HeldLock) {
    this.#place = place;
    this.#lock = lock;
  }

  /** Undefined if another process owns the socket. */
  static async claim(place: ControlPlace, clock: Clock): Promise<ControlOwner | undefined> {
    try {
      const lock = await holdLock(place.lock, { clock, patienceMs: 0 });
      // Left over from a process that was killed.
      rmSync(place.address(), { force: true });
      return new ControlOwner(place, lock);
    } catch (error) {
      if (error instanceof LockBusy) return undefined;
      throw error;
    }
  }

  /** After the listener has ended. */
  close(): void {
    if (this.#lock.isHeld()) rmSync(this.#place.address(), { force: true });
    this.#lock.release();
  }
}
