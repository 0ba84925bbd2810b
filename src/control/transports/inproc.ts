/** A client in the same process. The trust boundary is the process, so there is no token. */
import type { EngineClient } from "../../protocol/client.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { ClientId } from "../../protocol/ids.js";
import type { AttachedClient, Host } from "../host.js";

export function connectInProcess(
  host: Host,
  options: { readonly id: ClientId; readonly canAnswer: boolean },
): EngineClient {
  const listeners = new Set<(event: Envelope) => void>();
  const self: AttachedClient = {
    id: options.id,
    canAnswer: options.canAnswer,
    deliver: (event) => {
      for (const listener of listeners) listener(event);
    },
  };
  return {
    id: options.id,
    send: (kind, payload, session) => host.carryOut(self, { kind, payload, ...(session !== undefined && { session }) }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
