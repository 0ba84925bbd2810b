/** Changes what a transport delivers, before the library sees it. */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

/** `change` returns the message to deliver instead, or undefined for none. The first change that is added sees a message first. */
export function changeIncoming(
  transport: Transport,
  change: (message: JSONRPCMessage) => JSONRPCMessage | undefined,
): void {
  const before = Object.getOwnPropertyDescriptor(transport, "onmessage");
  let handler: Transport["onmessage"];
  // The library sets `onmessage` when it connects.
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => handler,
    set: (next: Transport["onmessage"]) => {
      handler =
        next &&
        ((message, extra) => {
          const changed = change(message);
          if (changed !== undefined) next(changed, extra);
        });
      if (before?.set === undefined) return;
      before.set.call(transport, handler);
      handler = before.get?.call(transport) as Transport["onmessage"];
    },
  });
}
