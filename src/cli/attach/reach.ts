/** Finds the engine that runs in this home, and connects to it as the person who owns it. */
import type { Variables } from "../../base/variables.js";
import { ConnectionError } from "../../clients/sdk/connection-error.js";
import { HttpClient } from "../../clients/sdk/http-client.js";
import type { ConnectOptions } from "../../clients/sdk/options.js";
import { socketExchange } from "../../clients/sdk-node/socket-exchange.js";
import type { Failure } from "../../protocol/errors.js";
import { isAgent } from "../../runtime/agent-limits.js";
import { controlPlace, ownersToken } from "../../runtime/control-place.js";
import { lockHolder } from "../../system/file-lock.js";
import { descendsFrom } from "../../system/process-ancestry.js";
import { roots } from "../../system/xdg-paths.js";

export type Reached =
  | { readonly kind: "connected"; readonly pid: number | undefined; readonly client: HttpClient }
  /** No process owns the socket. */
  | { readonly kind: "none" }
  /** A process owns the socket, but we cannot connect to it. */
  | {
      readonly kind: "unreachable";
      readonly pid: number | undefined;
      /** It owns the socket for so short a time that it may not listen yet. */
      readonly isStarting?: boolean;
      readonly reason: string;
      readonly failure?: Failure;
    };

export type ReachOptions = Pick<ConnectOptions, "name" | "canAnswer" | "identity" | "retry" | "onState" | "signal">;

/** A command that an agent runs never gets the owner's rights, even if no sandbox hides the token from it. */
const STARTING_MS = 10_000;
const FOR_PEOPLE = "an agent cannot use the engine of the person who runs it";

export async function reachEngine(variables: Variables, options: ReachOptions = {}): Promise<Reached> {
  const place = controlPlace(roots(variables));
  const holder = lockHolder(place.lock);
  if (holder === undefined) return { kind: "none" };
  const { pid } = holder;
  const isStarting = holder.since !== undefined && Date.now() - holder.since < STARTING_MS;
  if (isAgent(variables) || isInsideOxbow()) return { kind: "unreachable", pid, reason: FOR_PEOPLE };
  const first = ownersToken(place);
  if (first === undefined)
    return { kind: "unreachable", pid, isStarting, reason: `there is no token in ${place.token}` };
  // The engine renews the token.
  const token = () => ownersToken(place) ?? first;
  const exchange = socketExchange(place.address());
  try {
    const client = await HttpClient.connect({ ...options, token, exchange, place: place.socket });
    return { kind: "connected", pid, client };
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return { kind: "unreachable", pid, isStarting, reason: error.message, failure: error.failure };
  }
}

/** A command can change its environment, but not the processes that it descends from. */
function isInsideOxbow(): boolean {
  return descendsFrom({ program: process.argv[1] ?? "", names: ["oxbow", "ox"], mark: "OXBOW_AGENT=" });
}

/** Whether the process that owned the socket still does. */
export function isStillOwner(variables: Variables, pid: number | undefined): boolean {
  const holder = lockHolder(controlPlace(roots(variables)).lock);
  return holder !== undefined && holder.pid === pid;
}
