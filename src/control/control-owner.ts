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
  readonly #address: string;
  readonly #lock: HeldLock;

  private constructor(address: string, lock: HeldLock) {
    this.#address = address;
    this.#lock = lock;
  }

  /** Undefined if another process owns the socket. */
  static async claim(place: ControlPlace, clock: Clock): Promise<ControlOwner | undefined> {
    try {
      const lock = await holdLock(place.lock, { clock, patienceMs: 0 });
      // Left over from a process that was killed.
      const address = await place.address();
      rmSync(address, { force: true });
      return new ControlOwner(address, lock);
    } catch (error) {
      if (error instanceof LockBusy) return undefined;
      throw error;
    }
  }

  /** After the listener has ended. */
  close(): void {
    if (this.#lock.isHeld()) rmSync(this.#address, { force: true });
    this.#lock.release();
  }
}
