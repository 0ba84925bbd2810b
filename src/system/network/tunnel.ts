/**
 * A connection through a proxy with CONNECT.
 *
 * 1. Every problem is an HttpError that names the proxy, without its login.
 * 2. A tunnel to an https address is returned after its TLS handshake.
 */
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectSecure, type SecureContext } from "node:tls";
import { HttpError, networkDetail } from "../http-error.js";
import type { ProxyAddress } from "./proxy-address.js";

/** For an answer of the proxy that a retry does not change; such codes begin with ERR_. */
const LASTING = "ERR_PROXY_REFUSED";
const MAX_HEAD_BYTES = 64 * 1024;
const PATIENCE_MS = 10_000;

export interface TunnelOptions {
  /** For TLS; undefined if the default authorities are enough. */
  readonly secureContext: SecureContext | undefined;
}

export async function openTunnel(proxy: ProxyAddress, url: URL, options: TunnelOptions): Promise<Socket> {
  const socket = await connectToProxy(proxy, options);
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(silent(proxy)));
  await askForTunnel(socket, proxy, url);
  const ready = url.protocol === "https:" ? await secured(socket, url, options) : socket;
  socket.setTimeout(0);
  return ready;
}

/** An established connection to the proxy itself. */
export async function connectToProxy(proxy: ProxyAddress, { secureContext }: TunnelOptions): Promise<Socket> {
  const { host, port, secure } = proxy;
  const socket = secure
    ? connectSecure({ host, port, ...serverName(host), ...(secureContext && { secureContext }) })
    : connectPlain({ host, port });
  // An error of an abandoned socket must not end the process.
  socket.setNoDelay(true).on("error", () => {});
  const giveUp = () => socket.destroy(silent(proxy));
  socket.setTimeout(PATIENCE_MS, giveUp);
  try {
    await once(socket, secure ? "secureConnect" : "connect");
  } catch (error) {
    throw proxyUnreached(proxy, error as NodeJS.ErrnoException);
  }
  return socket.setTimeout(0).off("timeout", giveUp);
}

function silent({ shown }: ProxyAddress): HttpError {
  return new HttpError("timeout", `the proxy ${shown} does not answer`);
}

export function proxyUnreached({ shown }: ProxyAddress, error: NodeJS.ErrnoException): HttpError {
  if (error instanceof HttpError) return error;
  const refused = error.code === "ECONNREFUSED";
  return new HttpError("connect", `the proxy ${shown}: ${networkDetail(error)}`, refused ? LASTING : error.code);
}

/** The error for a proxy that refuses a request. */
export function proxyRefusal(proxy: ProxyAddress, target: string, { status, reason }: ProxyAnswer): HttpError {
  const { shown, authorization } = proxy;
  // Some proxies answer 401 to a wrong login.
  if (status === 407 || (status === 401 && authorization !== undefined)) {
    const detail =
      authorization === undefined
        ? `the proxy ${shown} requires a user name and a password (407). Put them into its address: http://USER:PASSWORD@HOST:PORT`
        : `the proxy ${shown} does not accept the user name and password in its address (${status})`;
    return new HttpError("connect", detail, LASTING);
  }
  const answer = `${status}${reason === "" ? "" : ` ${reason}`}`;
  if (status >= 500) return new HttpError("connect", `the proxy ${shown} could not reach ${target} (${answer})`);
  return new HttpError("connect", `the proxy ${shown} does not allow connections to ${target} (${answer})`, LASTING);
}

export interface ProxyAnswer {
  readonly status: number;
  readonly reason: string;
}

async function askForTunnel(socket: Socket, proxy: ProxyAddress, url: URL): Promise<void> {
  const target = `${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`;
  const lines = [
    `CONNECT ${target} HTTP/1.1`,
    `Host: ${target}`,
    ...(proxy.authorization === undefined ? [] : [`Proxy-Authorization: ${proxy.authorization}`]),
    "Proxy-Connection: keep-alive",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const answer = await readAnswer(socket, proxy);
  if (answer.status >= 200 && answer.status < 300) return;
  socket.destroy();
  throw proxyRefusal(proxy, target, answer);
}

function readAnswer(socket: Socket, proxy: ProxyAddress): Promise<ProxyAnswer> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const settle = (action: () => void) => {
      socket.off("data", onData).off("error", onError).off("close", onClose);
      action();
    };
    const fail = (error: HttpError) => settle(() => reject(error));
    const onError = (error: NodeJS.ErrnoException) => fail(proxyUnreached(proxy, error));
    const onClose = () => fail(new HttpError("connect", `the proxy ${proxy.shown} closed the connection`));
    const onData = (piece: Buffer) => {
      head = Buffer.concat([head, piece]);
      const end = head.indexOf("\r\n\r\n");
      const status = /^HTTP\/1\.[01] (\d{3})(?: ([^\r\n]*))?\r?\n/.exec(head.toString("latin1", 0, 1024));
      const isOther = head.length > 8 && !head.toString("latin1", 0, 5).startsWith("HTTP/");
      if (isOther || (end < 0 && head.length > MAX_HEAD_BYTES)) {
        socket.destroy();
        fail(new HttpError("connect", `${proxy.shown} does not answer as an HTTP proxy`, LASTING));
      } else if (end >= 0 && status !== null) {
        settle(() => {
          socket.pause();
          const rest = head.subarray(end + 4);
          if (rest.length > 0) socket.unshift(rest);
          resolve({ status: Number(status[1]), reason: printable(status[2] ?? "") });
        });
      }
    };
    socket.on("data", onData).on("error", onError).on("close", onClose);
  });
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "").slice(0, 100);
}

async function secured(socket: Socket, url: URL, { secureContext }: TunnelOptions): Promise<Socket> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const secure = connectSecure({
    socket,
    host,
    ...serverName(host),
    ALPNProtocols: ["http/1.1"],
    ...(secureContext && { secureContext }),
  });
  secure.on("error", () => {});
  try {
    await once(secure, "secureConnect");
  } catch (error) {
    socket.destroy();
    const cause = error as NodeJS.ErrnoException;
    throw new HttpError("connect", networkDetail(cause), cause.code);
  }
  return secure;
}

/** TLS servers refuse an IP address as a server name. */
function serverName(host: string): { servername: string } {
  return { servername: isIP(host) === 0 ? host : "" };
}

/** `close` without an error counts as an error. */
function once(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (action: () => void) => {
      socket.off(event, onReady).off("error", onError).off("close", onClose);
      action();
    };
    const onReady = () => settle(resolve);
    const onError = (error: Error) => settle(() => reject(error));
    const onClose = () => settle(() => reject(Object.assign(new Error(), { code: "ECONNRESET" })));
    socket.on(event, onReady).on("error", onError).on("close", onClose);
  });
}
