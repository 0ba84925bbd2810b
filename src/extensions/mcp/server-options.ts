/** What a supervised server needs from around it. */
import type { Clock } from "../../base/clock.js";
import type { Connection, ConnectionOptions, TransportPorts } from "./connection.js";
import type { KnownTools } from "./known-tools.js";
import type { ServerConfig } from "./server-config.js";

export interface ServerOptions extends TransportPorts {
  readonly config: ServerConfig;
  readonly root: string;
  readonly clock: Clock;
  readonly known: KnownTools;
  /** Why it must not start; undefined if it may. */
  readonly refusal: () => Promise<string | undefined>;
  readonly connect: (options: ConnectionOptions) => Promise<Connection>;
}
