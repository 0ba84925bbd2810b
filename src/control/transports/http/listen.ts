/** Listeners: where they may be, and how they begin and end. */
import { X509Certificate } from "node:crypto";
import { chmod, lstat, mkdir, unlink } from "node:fs/promises";
import type { Server } from "node:http";
import { type AddressInfo, connect, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { dirname } from "node:path";
import { AddressCheck, asLoopback, inUrl } from "../local-access.js";
import type { HttpService } from "./server.js";
import type { WebPages } from "./web-pages.js";

export interface TlsFiles {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** The longest path that a Unix socket can have; the system would cut it off. */
const MOST_PATH_BYTES = process.platform === "linux" ? 107 : 103;

/** `127.0.0.1:8080`, `[::1]:0`, `localhost:8080`, or a port alone. */
export function parseListen(text: string): ListenAddress | undefined {
  const [, host = "127.0.0.1", digits] = /^(?:(\[[0-9a-fA-F:.]+\]|[^:[\]\s/]+):)?(\d{1,5})$/.exec(text.trim()) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, ""), port };
}

/** Listens on a Unix socket that only this user can use. */
export async function listenOnSocket(service: HttpService, path: string): Promise<void> {
  if (Buffer.byteLength(path) > MOST_PATH_BYTES) {
    throw new Error(
      `The path of the socket is too long (${path}). Set OXBOW_HOME to a shorter folder, or use --no-socket.`,
    );
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await removeOld(path);
  const server = service.createServer({ place: "socket", check: () => undefined });
  // The mode is right from the first moment on.
  const before = process.umask(0o177);
  try {
    await started(server, () => server.listen(path), path);
  } finally {
    process.umask(before);
  }
  await chmod(path, 0o600);
}

/** Listens on a port and returns its URL. Beyond loopback it needs TLS; the caller has made sure of the tokens. */
export async function listenOnPort(
  service: HttpService,
  address: ListenAddress,
  options: {
    readonly tls?: TlsFiles | undefined;
    readonly origins: readonly string[];
    readonly pages?: WebPages | undefined;
  },
): Promise<string> {
  const loopback = asLoopback(address.host);
  const { tls, origins } = options;
  if (loopback === undefined && tls === undefined) throw new Error("Listening beyond this machine needs TLS.");
  const host = loopback ?? address.host;
  const scheme = tls === undefined ? "http" : "https";
  let check: AddressCheck | undefined;
  const server = service.createServer({
    place: loopback === undefined ? "network" : "loopback",
    tls,
    pages: options.pages,
    // Before the port is known nothing is accepted.
    check: () => check ?? new AddressCheck({ names: [], port: -1, origins: [] }),
  });
  await started(server, () => server.listen(address.port, host), `${inUrl(host)}:${address.port}`);
  const { port } = server.address() as AddressInfo;
  const names = loopback === undefined ? ownNames(host) : [inUrl(host)];
  check = new AddressCheck({
    ...{ names, port, scheme, origins },
    ...(tls !== undefined && { isAlsoNamed: certifiedNames(tls.cert) }),
  });
  return `${scheme}://${inUrl(host)}:${port}`;
}

/** The addresses of this machine that a listener on `host` answers on. */
function ownNames(host: string): readonly string[] {
  if (host !== "0.0.0.0" && host !== "::") return [inUrl(host)];
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => inUrl(address)));
}

/** The names of a certificate: a browser does not talk to the server under another one. */
function certifiedNames(pem: string): (name: string) => boolean {
  const certificate = new X509Certificate(pem);
  return (name) => {
    const plain = name.replace(/^\[|\]$/g, "");
    return (isIP(plain) === 0 ? certificate.checkHost(plain) : certificate.checkIP(plain)) !== undefined;
  };
}

function started(server: Server, listen: () => void, where: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "it is in use" : (cause.code ?? cause.message);
      reject(new Error(`Cannot listen on ${where}: ${reason}.`, { cause }));
    });
    server.once("listening", () => resolve());
    listen();
  });
}

/** A socket file that no process listens on is left over from a crash. */
async function removeOld(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`Cannot listen on ${path}: a file that is not a socket is there. Remove it.`);
  if (await isAnswered(path)) throw new Error(`Cannot listen on ${path}: another engine listens there.`);
  await unlink(path).catch(() => {});
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("connect", () => settle(true));
    // A full queue means that a process listens.
    socket.once("error", (error: NodeJS.ErrnoException) => settle(error.code === "EAGAIN"));
  });
}
