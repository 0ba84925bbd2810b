/** A client in the same process. The trust boundary is the process, so there is no token and no handshake. */
import type { Identity } from "../../protocol/client.js";
import type { ClientId } from "../../protocol/ids.js";
import type { HostClient } from "../connected-client.js";
import type { Host } from "../host.js";

export function connectInProcess(
  host: Host,
  options: {
    readonly id: ClientId;
    readonly canAnswer: boolean;
    readonly identity?: Identity;
    readonly name?: string;
    readonly passesOn?: true;
  },
): HostClient {
  return host.connect({ identity: "human", ...options, transport: "inproc" });
}
