/**
 * One harness over HTTP. `GET /events` streams events, `POST /prompt` starts a prompt,
 * `POST /cancel` stops it.
 *
 * 1. Every reader of `/events` gets every event from the moment its answer began, in order.
 * 2. A prompt is accepted (202) or refused (409) at once; only the events show how it went.
 * 3. After `close()` no socket and no timer is left.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../base/clock.js";
import { nearest } from "../../base/nearest.js";
import type { JsonObject } from "../../protocol/json.js";
import type { HarnessEvent } from "./simple-events.js";
import { SimpleSurface } from "./simple-surface.js";

/** Describes what the server needs of a harness. */
export interface ServedHarness {
  readonly busy: boolean;
  prompt(content: string): Promise<unknown>;
  /** Resolves when the sender of the last prompt may rely on it, or with the reason why it may not. Absent: it may at once. */
  accepted?(): Promise<string | undefined>;
  cancel(): void;
  subscribe(listener: (event: HarnessEvent) => void): () => void;
}

export interface ServerOptions {
  /** A token of your own, or `false` for none: then every program of this machine may use the server. Default: random. */
  readonly token?: string | false;
  /** Pages on other addresses that may use it, such as `http://localhost:5173`. */
  readonly origins?: readonly string[];
  /** The largest body of `POST /prompt`; default: 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Receives the error of every accepted prompt that failed or was cancelled. Clients see it as the message of the `idle` status. */
  readonly onError?: (error: unknown) => void;
  /** Receives a line for each refused token, without the token; at most 20 a minute from one address. */
  readonly log?: (message: string, fields: JsonObject) => void;
  readonly clock?: Clock;
}

export interface ListenOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** Default: 127.0.0.1. Only addresses of this machine are accepted. */
  readonly host?: string;
}

export interface ListeningServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Undefined if it is off. */
  readonly token: string | undefined;
  /** Ends all connections. The harness keeps working. */
  close(): Promise<void>;
}

export interface HarnessServer {
  listen(options?: ListenOptions): Promise<ListeningServer>;
}

const TOKEN_BYTES = 32;
const KNOWN: Readonly<Record<keyof ServerOptions, true>> = {
  token: true,
  origins: true,
  maxBodyBytes: true,
  onError: true,
  log: true,
  clock: true,
};

/** A mistyped `token` would silently have no effect. */
function refuseUnknown(options: ServerOptions): void {
  const names = Object.keys(KNOWN);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, names);
  const advice = near === undefined ? `There are ${names.join(", ")}.` : `Did you mean ${near}?`;
  throw new Error(`createServer() has no option "${unknown}". ${advice}`);
}

export function createServer(harness: ServedHarness, options: ServerOptions = {}): HarnessServer {
  refuseUnknown(options);
  return { listen: (place = {}) => listen(harness, options, place) };
}

async function listen(
  harness: ServedHarness,
  options: ServerOptions,
  { port = 0, host = "127.0.0.1" }: ListenOptions,
): Promise<ListeningServer> {
  // Loaded here, so that a program without a server does not pay for it.
  const [http, { randomBytes }, { inUrl, LocalAccess, loopbackAddress }] = await Promise.all([
    import("node:http"),
    import("node:crypto"),
    import("./local-access.js"),
  ]);
  const address = loopbackAddress(host);
  if (options.token === "") throw new Error("An empty token would allow everyone. Omit it, or use `token: false`.");
  const token = options.token === false ? undefined : (options.token ?? randomBytes(TOKEN_BYTES).toString("base64url"));
  const server = http.createServer();
  const bound = await bind(server, { port, address });
  const access = new LocalAccess({
    address,
    port: bound,
    origins: options.origins ?? [],
    ...(token !== undefined && { token }),
  });
  const surface = new SimpleSurface(harness, access, options);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => surface.handle(request, response));
  let closed: Promise<void> | undefined;
  const close = () =>
    new Promise<void>((resolve) => {
      surface.close();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://${inUrl(address)}:${bound}`,
    token,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

function bind(server: Server, place: { readonly port: number; readonly address: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "the port is in use" : (cause.code ?? cause.message);
      reject(new Error(`Cannot listen on ${place.address} port ${place.port}: ${reason}.`, { cause }));
    });
    server.listen(place.port, place.address, () => resolve((server.address() as AddressInfo).port));
  });
}
