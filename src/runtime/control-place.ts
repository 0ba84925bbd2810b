/** Where the engine of this home listens: its socket, the token of its owner, and the lock of the process that owns them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reachable } from "../system/socket-path.js";
import type { Roots } from "../system/xdg-paths.js";
import { CONTROL_LOCK, CONTROL_SOCKET, CONTROL_TOKEN } from "./control-names.js";

export interface ControlPlace {
  /** For messages; the path is too long for some kernels. */
  readonly socket: string;
  readonly token: string;
  readonly lock: string;
  /** The name of the socket to connect to. */
  address(): string;
}

export function controlPlace({ state }: Pick<Roots, "state">): ControlPlace {
  const socket = join(state, CONTROL_SOCKET);
  return {
    socket,
    token: join(state, CONTROL_TOKEN),
    lock: join(state, CONTROL_LOCK),
    address: () => reachable(state, socket),
  };
}

/** Undefined if there is none, or this user may not read it. */
export function ownersToken({ token }: ControlPlace): string | undefined {
  try {
    return readFileSync(token, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
