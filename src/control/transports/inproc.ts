/** A client in the same process. The trust boundary is the process, so there is no token. */
import type { EngineClient, Identity } from "../../protocol/client.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { ClientId } from "../../protocol/ids.js";
import type { AttachedClient, Host } from "../host.js";

export function connectInProcess(
  host: Host,
  options: { readonly id: ClientId; readonly canAnswer: boolean; readonly identity?: Identity },
): EngineClient {
  const { identity = "human" } = options;
  const listeners = new Set<(event: Envelope) => void>();
  /** Events from before a listener: resuming a session reports gaps and interrupted turns at once. */
  let early: Envelope[] | undefined = [];
  const self: AttachedClient = {
    id: options.id,
    identity,
    canAnswer: options.canAnswer,
    deliver: (event) => {
      early?.push(event);
      for (const listener of listeners) listener(event);
    },
  };
  return {
    id: options.id,
    identity,
    send: (kind, payload, session) => host.carryOut(self, { kind, payload, ...(session !== undefined && { session }) }),
    query: (kind, request, session) => host.query({ kind, request, ...(session !== undefined && { session }) }),
    subscribe(listener) {
      listeners.add(listener);
      const missed = early ?? [];
      early = undefined;
      for (const event of missed) listener(event);
      return () => listeners.delete(listener);
    },
  };
}
