/**
 * The one process of a home that listens for clients.
 *
 * 1. It holds a lock that ends with it, however it ends. Only the holder removes a socket, so a stale one never stays in the way and a live one is never
 *    removed.
 * 2. Other processes of this home work without listening, or attach.
 */
import { rmSync } from "node:fs";
import type { Clock } from "../base/clock.js";
import { type HeldLock, holdLock, LockBusy } from "../system/file-lock.js";
import type { ControlPlace } from "./control-place.js";

/** What listens: an HTTP server on the socket. */
export interface Listener {
  close(): Promise<void>;
}

export class ControlOwner {
  readonly #place: ControlPlace;
  readonly #lock: HeldLock;
  #listener: Listener | undefined;

  private constructor(place: ControlPlace, lock: HeldLock) {
    this.#place = place;
    this.#lock = lock;
  }

  /** Undefined when another process owns the socket. */
  static async claim(place: ControlPlace, clock: Clock): Promise<ControlOwner | undefined> {
    try {
      return new ControlOwner(place, await holdLock(place.lock, { clock, patienceMs: 0 }));
    } catch (error) {
      if (error instanceof LockBusy) return undefined;
      throw error;
    }
  }

  async listen(open: (socket: string) => Promise<Listener>): Promise<void> {
    this.#removeSocket();
    this.#listener = await open(this.#place.address());
  }

  /** Clients that are attached lose their connection. */
  async close(): Promise<void> {
    await this.#listener?.close();
    if (this.#lock.isHeld()) this.#removeSocket();
    this.#lock.release();
  }

  #removeSocket(): void {
    for (const path of [this.#place.address(), this.#place.token]) rmSync(path, { force: true });
  }
}
