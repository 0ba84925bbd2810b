/**
 * The proxy between sandboxed commands and the network: CONNECT for TLS, absolute addresses for plain HTTP.
 *
 * An entry of the list is a name (`example.com`: that host alone), a suffix (`*.example.com`: every host below, not the domain itself), or
 * either with `:port`. Without a port it means 80 and 443. Names are compared without letter case and without the final dot.
 *
 * 1. A host is reached only when its name is listed; then it is resolved once, the answer is judged by `resolveSafely`, and the
 *    connection goes to the address that was judged.
 * 2. Each command has its own entrance, so that its result can list the refused hosts.
 * 3. Nothing is decrypted: of a TLS connection only the host and the port are known.
 * 4. Where this machine reaches the network through a proxy, so do the commands. The proxy gets the name, after the same checks; a
 *    name that cannot be resolved here has no address to check; only the proxy knows it.
 */
import { rmSync } from "node:fs";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect, isIP, type Socket } from "node:net";
import { join } from "node:path";
import { type Duplex, pipeline } from "node:stream";
import { domainToASCII } from "node:url";
import type { Network } from "../../system/network/network.js";
import type { ProxyAddress } from "../../system/network/proxy-address.js";
import { makeTemporaryFolder } from "../../system/temporary-entries.js";
import { SandboxError } from "../sandbox/policy.js";
import { SOCKET_NAME } from "./network-forwarding.js";

/** The addresses of a host that may be connected to; rejects with the reason when it may not be. */
export type ResolveSafely = (host: string) => Promise<readonly string[]>;

export interface Refusal {
  readonly host: string;
  readonly port: number;
  readonly reason: string;
}

export interface GateEntrance {
  /** The folder with the socket; undefined for an entrance on a port. */
  readonly folder: string | undefined;
  readonly port: number | undefined;
  /** Lists what was refused since the entrance was opened, each host and port once. */
  refusals(): readonly Refusal[];
  close(): Promise<void>;
}

export interface NetworkGateOptions {
  readonly allow: readonly string[];
  readonly resolveSafely: ResolveSafely;
  readonly connectTimeoutMs?: number;
  /** Tells how this machine reaches the network, when that is not the usual way. */
  readonly network?: () => Promise<Network | undefined>;
}

/** One line for the tool result. */
export function describeRefusal({ host, port, reason }: Refusal): string {
  const place = port === 443 || port === 80 ? host : `${host}:${port}`;
  return `network: ${place} was refused by the sandbox (${reason})`;
}

const CONNECT_TIMEOUT_MS = 15_000;
const MAX_REFUSALS = 50;
/** They describe one connection and must not be forwarded. */
const OWN_HEADERS = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split(
    " ",
  ),
);

export class NetworkGate {
  readonly #list: readonly HostEntry[];
  readonly #resolveSafely: ResolveSafely;
  readonly #timeoutMs: number;
  readonly #network: NetworkGateOptions["network"];

  constructor({ allow, resolveSafely, network, connectTimeoutMs = CONNECT_TIMEOUT_MS }: NetworkGateOptions) {
    this.#network = network;
    this.#list = parseHostList(allow);
    this.#resolveSafely = resolveSafely;
    this.#timeoutMs = connectTimeoutMs;
  }

  /** A socket for sandboxes with a network of their own, a port for those that share the machine's. */
  async open(on: "socket" | "port"): Promise<GateEntrance> {
    const refused = new Map<string, Refusal>();
    const sockets = new Set<Duplex>();
    const keep = (socket: Duplex) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    };
    const refuse = (refusal: Refusal) => {
      if (refused.size < MAX_REFUSALS) refused.set(`${refusal.host}:${refusal.port}`, refusal);
      return describeRefusal(refusal);
    };
    const server = createServer((request, response) => void this.#forward(request, { response, refuse, keep }));
    server.on("connection", keep);
    server.on("connect", (request, socket) => void this.#tunnel(request, { socket, refuse, keep }));
    server.on("upgrade", (_request, socket) => answer(socket, 501, "Only CONNECT can be upgraded."));
    server.on("clientError", (_error, socket) => answer(socket, 400, "This is not a request for a proxy."));
    const folder = on === "socket" ? makeTemporaryFolder("net") : undefined;
    await listen(server, folder === undefined ? { host: "127.0.0.1", port: 0 } : { path: join(folder, SOCKET_NAME) });
    return {
      folder,
      port: folder === undefined ? (server.address() as AddressInfo).port : undefined,
      refusals: () => [...refused.values()],
      async close() {
        for (const socket of sockets) socket.destroy();
        await new Promise<void>((resolve) => server.close(() => resolve()));
        if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      },
    };
  }

  async #tunnel(
    request: IncomingMessage,
    { socket, refuse, keep }: { readonly socket: Duplex; readonly refuse: Refuse; readonly keep: Keep },
  ): Promise<void> {
    socket.on("error", () => {});
    const [, name = "", port = ""] = /^(.+):(\d+)$/.exec(request.url ?? "") ?? [];
    const found = await this.#reach(name.replace(/^\[(.*)\]$/, "$1"), { port: Number(port), scheme: "https" });
    if ("reason" in found) return answer(socket, 403, refuse(found));
    if ("failure" in found) return answer(socket, 502, found.failure);
    keep(found.socket);
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    couple(socket, found.socket);
  }

  async #forward(
    request: IncomingMessage,
    { response, refuse, keep }: { readonly response: ServerResponse; readonly refuse: Refuse; readonly keep: Keep },
  ): Promise<void> {
    const fail = (status: number, text: string) => {
      if (response.headersSent) return void response.destroy();
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(`${text}\n`);
    };
    const url = wholeAddress(request.url ?? "");
    if (url === undefined) return fail(400, "This is a proxy: the address must be whole and begin with http://.");
    const port = Number(url.port || 80);
    const found = await this.#reach(url.hostname.replace(/^\[(.*)\]$/, "$1"), { port, scheme: "http" });
    if ("reason" in found) return fail(403, refuse(found));
    if ("failure" in found) return fail(502, found.failure);
    keep(found.socket);
    const { socket, proxy } = found;
    const login = proxy?.authorization && { "proxy-authorization": proxy.authorization };
    const outgoing = httpRequest({
      method: request.method ?? "GET",
      path: proxy === undefined ? url.pathname + url.search : `http://${url.host}${url.pathname}${url.search}`,
      headers: { ...handedOn(request), host: url.host, connection: "close", ...login },
      createConnection: () => socket,
    });
    outgoing.on("error", (error) => fail(502, error.message));
    outgoing.on("response", (incoming) => {
      try {
        response.writeHead(incoming.statusCode ?? 502, handedOn(incoming));
      } catch (error) {
        // Node reads some status lines and headers that it does not write.
        incoming.destroy();
        return fail(502, `The answer of ${url.host} cannot be forwarded: ${(error as Error).message}`);
      }
      incoming.pipe(response);
      incoming.on("error", () => response.destroy());
    });
    response.on("close", () => outgoing.destroy());
    request.pipe(outgoing);
  }

  async #reach(name: string, { port, scheme }: Target): Promise<Reached> {
    const host = plainHost(name);
    if (host === undefined) return { host: name, port, reason: "hosts are allowed by name, not by address" };
    if (!isListed(this.#list, host, port)) return { host, port, reason: "it is not on the list of allowed hosts" };
    let addresses: readonly string[];
    try {
      addresses = await this.#resolveSafely(host);
    } catch (error) {
      return { host, port, reason: (error as Error).message };
    }
    const network = await this.#network?.();
    const proxy = network?.proxyFor(new URL(`${scheme}://${host}:${port}/`));
    if (network !== undefined && proxy !== undefined) return reachThrough(proxy, { network, host, port, scheme });
    let failure = `${host} has no address.`;
    for (const address of addresses) {
      try {
        return { socket: await connectTo(address, { port, timeoutMs: this.#timeoutMs }) };
      } catch (error) {
        failure = `${host} could not be reached: ${(error as Error).message}`;
      }
    }
    return { failure };
  }
}

type Refuse = (refusal: Refusal) => string;
type Keep = (socket: Duplex) => void;
type Reached =
  | Refusal
  | { readonly failure: string }
  | {
      readonly socket: Socket;
      /** The proxy at the other end, if it takes the request itself. */
      readonly proxy?: ProxyAddress;
    };

interface Target {
  readonly port: number;
  readonly scheme: "http" | "https";
}

/** Opens a tunnel for TLS, and sends plain requests to the proxy itself: many proxies allow tunnels to few ports only. */
async function reachThrough(
  proxy: ProxyAddress,
  { network, host, port, scheme }: Target & { readonly network: Network; readonly host: string },
): Promise<Reached> {
  try {
    const { connectToProxy, openTunnel } = await import("../../system/network/tunnel.js");
    const options = { secureContext: await network.secureContext() };
    if (scheme === "http") return { socket: await connectToProxy(proxy, options), proxy };
    // The command's own TLS goes through the tunnel, so it is asked for like a plain one.
    return { socket: await openTunnel(proxy, new URL(`http://${host}:${port}/`), options) };
  } catch (error) {
    return { failure: `${host} could not be reached: ${(error as Error).message}` };
  }
}

function listen(server: Server, place: { path: string } | { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(place, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function connectTo(address: string, options: { readonly port: number; readonly timeoutMs: number }): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port: options.port });
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(options.timeoutMs, () => fail(new Error("it did not answer in time")));
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("error", fail);
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}

/** Either side may end first; data in the other direction still arrives. */
function couple(near: Duplex, far: Duplex): void {
  pipeline(near, far, () => {});
  pipeline(far, near, () => {});
}

function wholeAddress(text: string): URL | undefined {
  return /^http:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
}

function handedOn({ headers }: IncomingMessage): Record<string, string | string[]> {
  const listed = String(headers.connection ?? "")
    .toLowerCase()
    .split(/\s*,\s*/);
  const kept = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name) && !listed.includes(name));
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  501: "Not Implemented",
  502: "Bad Gateway",
};

function answer(socket: Duplex, status: number, text: string): void {
  if (socket.destroyed) return;
  const body = `${text}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_WORDS[status] ?? "Error"}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

export interface HostEntry {
  readonly host: string;
  readonly below: boolean;
  readonly ports: readonly number[];
}

const WEB_PORTS = [80, 443];

export function parseHostList(entries: readonly string[]): HostEntry[] {
  return entries.map(parseEntry);
}

function parseEntry(entry: string): HostEntry {
  const [, star, name = "", port] = /^(\*\.)?([^:/*\s]+)(?::(\d+))?$/.exec(entry.trim()) ?? [];
  const host = plainHost(name);
  const isPort = port === undefined || (Number(port) > 0 && Number(port) < 65_536);
  if (host === undefined || !isPort) {
    throw new SandboxError(
      `"${entry}" cannot be an allowed host. Write a name such as example.com, *.example.com or example.com:8443.`,
    );
  }
  return { host, below: star !== undefined, ports: port === undefined ? WEB_PORTS : [Number(port)] };
}

/** The name for comparison; undefined for addresses and invalid host names. */
export function plainHost(name: string): string | undefined {
  const host = domainToASCII(name.toLowerCase()).replace(/\.$/, "");
  // A final label in digits or hexadecimal makes the whole an address in one of its many spellings.
  if (host === "" || isIP(host) !== 0 || /(^|\.)(\d+|0x[0-9a-f]*)$/.test(host)) return undefined;
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) && host.length <= 253 ? host : undefined;
}

export function isListed(list: readonly HostEntry[], host: string, port: number): boolean {
  return list.some(
    (entry) => entry.ports.includes(port) && (entry.below ? host.endsWith(`.${entry.host}`) : host === entry.host),
  );
}
