import type { Clock } from "../../base/clock.js";

export interface ConnectOptions {
  /** `http://127.0.0.1:PORT`; with `ws:` or `wss:` a WebSocket carries everything. */
  readonly url: string | URL;
  /** A function is asked before each request: a token can expire and be renewed. */
  readonly token: string | (() => string | Promise<string>);
  /** The name that others see in the list of clients: `review bot`. */
  readonly name?: string;
  /** False: there is no person at this client, so the engine does not wait for its answers. */
  readonly canAnswer?: boolean;
  /** It works for an agent, also with a person's token: it can never answer a question. */
  readonly identity?: "agent";
  /** Ends the connection. */
  readonly signal?: AbortSignal;
  /**
   * Asked after each drop and each failed attempt to connect again; false gives up. By default a client tries for as long
   * as it is open.
   */
  readonly retry?: (attempt: number, error: Error) => boolean | Promise<boolean>;
  /** The connection works, is being made again, or is at its end. */
  readonly onState?: (state: ConnectionState, error?: Error) => void;
  /** Nothing arrives for this long: the connection counts as dropped. Default: 60 s. */
  readonly silenceMs?: number;
  readonly fetch?: typeof fetch;
  readonly WebSocket?: WebSocketConstructor;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export type ConnectionState = "connected" | "reconnecting" | "closed";

/** The part of a WebSocket that a client needs. Browsers, Node 22 and the package `ws` have one. */
export interface WebSocketLike {
  send(text: string): void;
  close(code?: number): void;
  addEventListener(kind: "open" | "close" | "error" | "message", listener: (event: WebSocketEvent) => void): void;
}

export interface WebSocketEvent {
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
}

export type WebSocketConstructor = new (url: string, protocols?: string | string[]) => WebSocketLike;
