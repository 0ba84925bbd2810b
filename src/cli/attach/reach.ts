/** Finds the engine that runs in this home, and connects to it as the person who owns it. */
import type { Variables } from "../../base/variables.js";
import { ConnectionError } from "../../clients/sdk/connection-error.js";
import { HttpClient } from "../../clients/sdk/http-client.js";
import type { ConnectOptions } from "../../clients/sdk/options.js";
import { socketExchange } from "../../clients/sdk-node/socket-exchange.js";
import { type ControlPlace, controlPlace, isOwnSocket, ownersMark, ownersToken } from "../../control/control-place.js";
import type { Failure } from "../../protocol/errors.js";
import { isInsideEngine } from "../../system/model-ancestors.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";

export type Reached =
  | {
      readonly kind: "connected";
      readonly pid: number | undefined;
      readonly client: HttpClient;
      /** Tells whether the process that owned the socket then still does. */
      readonly isStillOwner: () => Promise<boolean>;
    }
  /** No process owns the socket. */
  | { readonly kind: "none" }
  /** A process owns the socket, and there is no way to it. */
  | {
      readonly kind: "unreachable";
      readonly pid: number | undefined;
      /** It owns the socket for so short a time that it may not listen yet. */
      readonly isStarting?: boolean;
      readonly reason: string;
      readonly failure?: Failure;
    };

export type ReachOptions = Pick<ConnectOptions, "name" | "canAnswer" | "identity" | "retry" | "onState" | "signal">;

const STARTING_MS = 10_000;
const ANSWER_MS = 5000;
/** A command that an agent runs never gets the owner's rights, even if no sandbox hides the token from it. */
const FOR_PEOPLE = "an agent cannot use the engine of its user";

export async function reachEngine(variables: Variables, options: ReachOptions = {}): Promise<Reached> {
  const place = controlPlace(roots(variables));
  const mark = ownersMark(place);
  if (mark === undefined) return { kind: "none" };
  if (isInsideEngine(variables)) return whyNot(place, FOR_PEOPLE);
  if (!isOwnSocket(place)) return whyNot(place, `${place.socket} does not belong to you`);
  const token = ownersToken(place);
  if (token === undefined) return whyNot(place, `there is no token in ${place.token}`);
  try {
    const connecting = HttpClient.connect({
      ...options,
      // The engine renews the token.
      token: () => ownersToken(place) ?? token,
      exchange: socketExchange(await place.address()),
      place: place.socket,
    });
    const client = await soon(connecting);
    if (client === undefined) return whyNot(place, "it does not answer; is it suspended?");
    const isStillOwner = async () => ownersMark(place) === mark && (await holderOf(place)) !== undefined;
    return { kind: "connected", pid: pidIn(mark), client, isStillOwner };
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return whyNot(place, error.message, error.failure);
  }
}

/** A process that is suspended takes connections, but never answers. */
async function soon(connecting: Promise<HttpClient>): Promise<HttpClient | undefined> {
  let stop = () => {};
  const late = new Promise<undefined>((resolve) => {
    stop = nodeClock.after(ANSWER_MS, () => resolve(undefined));
  });
  const client = await Promise.race([connecting, late]);
  stop();
  if (client === undefined) connecting.then((other) => other.close()).catch(() => {});
  return client;
}

/** A lock that is left over from a process which has ended counts as none. */
async function whyNot(place: ControlPlace, reason: string, failure?: Failure): Promise<Reached> {
  const holder = await holderOf(place);
  if (holder === undefined) return { kind: "none" };
  const { pid, since } = holder;
  const isStarting = reason !== FOR_PEOPLE && since !== undefined && Date.now() - since < STARTING_MS;
  return { kind: "unreachable", pid, isStarting, reason, ...(failure && { failure }) };
}

/** For messages: the lock knows it for certain. */
function pidIn(mark: string): number | undefined {
  return Number(mark.split("_")[2]) || undefined;
}

/** Loaded late: a prompt through a running engine does not need it. */
async function holderOf({ lock }: ControlPlace) {
  return (await import("../../system/file-lock.js")).lockHolder(lock);
}
