/** `oxbow/sdk/node`: the same, and a running engine by its Unix socket. */

import { connect as connectByUrl } from "../sdk/connect.js";
import { Connection } from "../sdk/connection.js";
import { HttpClient } from "../sdk/http-client.js";
import type { ConnectOptions } from "../sdk/options.js";
import { socketExchange } from "./socket-exchange.js";

export * from "../sdk/index.js";
export { type OwnEngine, ownEngine } from "./own-engine.js";
export { socketExchange } from "./socket-exchange.js";

export type NodeConnectOptions = Omit<ConnectOptions, "url"> &
  ({ readonly url: string | URL; readonly socket?: never } | { readonly socket: string; readonly url?: never });

/** Connects to a running engine by its URL or its Unix socket. Throws a ConnectionError. */
export async function connect(options: NodeConnectOptions): Promise<Connection> {
  if (options.socket === undefined) return connectByUrl(options);
  const exchange = socketExchange(options.socket);
  return new Connection(await HttpClient.connect({ ...options, exchange, place: options.socket }));
}
