/** The MCP server on standard input and output, for the revisions 2025-11-25 (and older) and 2026-07-28. */
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { type EngineOfferOptions, engineOffer } from "./engine-offer.js";
import { createMcpServer, type McpServerOptions } from "./server.js";
import { listenedResources, Subscriptions } from "./subscriptions.js";

export interface McpStdioOptions extends Pick<McpServerOptions, "version" | "refusal">, EngineOfferOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly log: (message: string) => void;
}

/** Resolves when the outer agent has closed the connection. */
export function serveMcpStdio({ input, output, log, version, refusal, ...engine }: McpStdioOptions): Promise<void> {
  const offer = engineOffer(engine);
  const subscriptions = new Subscriptions();
  const onListen = async (message: JSONRPCMessage) => {
    const uris = listenedResources(message);
    if (uris.length === 0 || (await refusal?.("now")) !== undefined) return;
    for (const uri of uris) await subscriptions.follow(offer, uri);
  };
  const transport = new WatchedTransport(new StdioServerTransport(input, output), (message) => void onListen(message));
  const shared = { offer, version, subscriptions, ...(refusal && { refusal }) };
  serveStdio(() => createMcpServer({ ...shared, announces: "itself" }), {
    transport,
    onerror: (error) => log(error.message.replace(/\s+/g, " ").slice(0, 200)),
  });
  return transport.ended;
}

/** Looks at messages on their way in: the library answers `subscriptions/listen` without a handler of ours. */
class WatchedTransport implements Transport {
  readonly #inner: StdioServerTransport;
  readonly #look: (message: JSONRPCMessage) => void;
  #end: () => void = () => {};
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(inner: StdioServerTransport, look: (message: JSONRPCMessage) => void) {
    this.#inner = inner;
    this.#look = look;
  }

  start(): Promise<void> {
    this.#inner.onmessage = (message) => {
      this.#look(message);
      this.onmessage?.(message);
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => {
      this.#end();
      this.onclose?.();
    };
    return this.#inner.start();
  }

  send(message: JSONRPCMessage, _options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
