import { Connection } from "./connection.js";
import { fetchExchange } from "./exchange.js";
import { HttpClient } from "./http-client.js";
import type { ConnectOptions } from "./options.js";
import { WebSocketClient } from "./web-socket-client.js";

/** Connects to a running engine. Throws a ConnectionError when that is not there, or refuses, or speaks another protocol. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const url = new URL(options.url);
  if (url.protocol === "ws:" || url.protocol === "wss:") return new Connection(await WebSocketClient.connect(options));
  const exchange = fetchExchange(url, options.fetch);
  return new Connection(await HttpClient.connect({ ...options, exchange, place: url.origin }));
}
