/** Finds the running helper, for commands that show or stop it. */

import type { Variables } from "../../../base/variables.js";
import { reachable } from "../../../system/socket-path.js";
import { roots } from "../../../system/xdg-paths.js";
import { helperFolder } from "../places.js";
import { readEndpoint } from "./helper-protocol.js";

export interface RunningHelper {
  readonly pid: number;
  readonly version: string;
  /** Connections of other processes. */
  readonly connections: number;
  /** A program that uses it now starts another one. */
  stop(): Promise<void>;
  /** An engine ends: the helper ends with its last client, unless a passphrase opened it. */
  leave(): Promise<void>;
}

export async function runningHelper(variables: Variables): Promise<RunningHelper | undefined> {
  const folder = helperFolder(roots(variables));
  const endpoint = readEndpoint(folder);
  if (endpoint === undefined) return undefined;
  const { askHelper } = await import("./helper-client.js");
  const socketPath = reachable(folder, endpoint.socket);
  const status = await askHelper({ socketPath, endpoint, method: "GET", path: "/status" });
  if (status === undefined) return undefined;
  return {
    pid: endpoint.pid,
    version: endpoint.version,
    connections: Number(status.connections),
    stop: async () => void (await askHelper({ socketPath, endpoint, method: "POST", path: "/stop" })),
    leave: async () => void (await askHelper({ socketPath, endpoint, method: "POST", path: "/leave" })),
  };
}
