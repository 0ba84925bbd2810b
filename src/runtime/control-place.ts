/** Where the engine of this home listens: its socket, the token of its owner, and the lock of the process that owns them. */
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { reachable } from "../system/socket-path.js";
import type { Roots } from "../system/xdg-paths.js";

export interface ControlPlace {
  /** For people; too long for some kernels. */
  readonly socket: string;
  readonly token: string;
  readonly lock: string;
  /** The name of the socket to connect to. */
  address(): string;
}

export function controlPlace({ state }: Pick<Roots, "state">): ControlPlace {
  const socket = join(state, "control.sock");
  return {
    socket,
    token: join(state, "control.token"),
    lock: join(state, "control.lock"),
    address: () => reachable(state, socket),
  };
}

/** Cheap: loads nothing. A lock that is there may still be abandoned. */
export function mayHaveEngine({ lock }: ControlPlace): boolean {
  return lstatSync(lock, { throwIfNoEntry: false }) !== undefined;
}

/** Undefined if there is none, or this user may not read it. */
export function ownersToken({ token }: ControlPlace): string | undefined {
  try {
    return readFileSync(token, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
