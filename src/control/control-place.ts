/** Describes where the engine of this home listens: its socket, the token of its owner, and the lock of the process that owns them. */
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { CONTROL_LOCK, CONTROL_SOCKET, CONTROL_TOKEN } from "../base/control-names.js";
import type { Roots } from "../system/xdg-paths.js";

export interface ControlPlace {
  readonly folder: string;
  /** For messages; the path is too long for some kernels. */
  readonly socket: string;
  readonly token: string;
  readonly lock: string;
  /** The name of the socket to connect to. */
  address(): Promise<string>;
}

/** The length that every kernel takes. */
const SHORT_PATH_BYTES = 100;

export function controlPlace({ state }: Pick<Roots, "state">): ControlPlace {
  const socket = join(state, CONTROL_SOCKET);
  return {
    folder: state,
    socket,
    token: join(state, CONTROL_TOKEN),
    lock: join(state, CONTROL_LOCK),
    address: async () => {
      if (Buffer.byteLength(socket) <= SHORT_PATH_BYTES) return socket;
      return (await import("../system/socket-path.js")).reachable(state, socket);
    },
  };
}

/** Names the process that holds the lock, or held it. Undefined without a lock. */
export function ownersMark({ lock }: ControlPlace): string | undefined {
  try {
    return readlinkSync(lock);
  } catch (error) {
    // A file system without links has a file.
    return (error as NodeJS.ErrnoException).code === "EINVAL" ? contentOf(lock) : undefined;
  }
}

/** Undefined if there is none, or this user may not read it. */
export function ownersToken({ token }: ControlPlace): string | undefined {
  return contentOf(token);
}

/** The token goes to this socket: not through a link, and not to another user. One that is missing is reported later. */
export function isOwnSocket({ socket }: ControlPlace): boolean {
  const found = lstatSync(socket, { throwIfNoEntry: false });
  return found === undefined || (found.isSocket() && found.uid === (process.getuid?.() ?? found.uid));
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
