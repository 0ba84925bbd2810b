/**
 * The transport to a server with an address: streamable HTTP, or SSE for an older one.
 *
 * 1. A server that sends more than a client can handle is cut off: the transport closes, and `problem` says why.
 * 2. Messages that are nested too deep are dropped, as they would overflow the stack later; an answer becomes an error.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.js";
import type { HttpClient } from "../../system/http-client.js";
import { fetchWith } from "./fetch.js";
import { FloodGuard, type FloodLimits, insteadOfDeep, MOST_MESSAGE_LEVELS } from "./flood-guard.js";
import { changeIncoming } from "./incoming-messages.js";

export interface RemoteTransportOptions {
  readonly kind: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly limits?: FloodLimits;
  readonly onLog: (line: string) => void;
}

/** `problem` ends the sentence "The server …". */
export type RemoteTransport = Transport & { readonly problem: string | undefined };

export async function openRemoteTransport(options: RemoteTransportOptions): Promise<RemoteTransport> {
  const { kind, http, headers, clock, limits, onLog } = options;
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const onFlood = (problem: string) => {
    transport.onerror?.(new Error(`The server ${problem}.`));
    void transport.close().catch(() => {});
  };
  const guard = new FloodGuard({ clock, limits, onFlood });
  const settings = { fetch: fetchWith(http, guard), requestInit: { headers: { ...headers } } };
  const url = new URL(options.url);
  const transport: Transport =
    kind === "sse" ? new SSEClientTransport(url, settings) : new StreamableHTTPClientTransport(url, settings);
  dropDeepMessages(transport, onLog);
  return Object.defineProperty(transport, "problem", { get: () => guard.problem }) as RemoteTransport;
}

function dropDeepMessages(transport: Transport, onLog: (line: string) => void): void {
  changeIncoming(transport, (message) => {
    if (!isDeeper(message, MOST_MESSAGE_LEVELS)) return message;
    onLog("(a message that is nested too deep)");
    return insteadOfDeep(message) as JSONRPCMessage | undefined;
  });
}

/** Level by level: a walk by recursion would overflow the stack itself. */
export function isDeeper(value: unknown, levels: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const inner = level.filter((each) => typeof each === "object" && each !== null) as readonly object[];
    if (inner.length > 0 && depth >= levels) return true;
    level = inner.flatMap((each) => Object.values(each) as unknown[]);
  }
  return false;
}
