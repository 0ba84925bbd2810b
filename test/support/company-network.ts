/**
 * A network as companies have it: a proxy (the package proxy-chain) is the only way out, and TLS is signed by an authority that only this
 * network knows. Behind the proxy every name leads to servers of the test, so that no name server is needed.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { Agent } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createSecureServer } from "node:tls";
import { promisify } from "node:util";
import { Server as ProxyServer, RequestError } from "proxy-chain";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./program.js";

const run = promisify(execFile);

export interface CompanyNetwork {
  /** `127.0.0.1:PORT` of the proxy. */
  readonly proxy: string;
  /** The certificate authority's file; "" without names. */
  readonly authority: string;
  /** Holds what reached the far side of the proxy: `CONNECT api.oxbow.test:443`, `GET http://…`. */
  readonly passed: readonly string[];
}

export interface CompanyNetworkOptions {
  /** The http server that all names lead to. */
  readonly origin: string;
  /** Names that TLS leads to. Their certificate needs openssl. */
  readonly names?: readonly string[];
  readonly login?: { readonly user: string; readonly password: string };
  /** The only port that the proxy opens tunnels to. */
  readonly tunnelPort?: number;
}

export async function openCompanyNetwork(options: CompanyNetworkOptions): Promise<CompanyNetwork> {
  const { names = [] } = options;
  const origin = Number(new URL(options.origin).port);
  const certified = names.length > 0 ? await issueCertificate(await temporaryFolder(), names) : undefined;
  const secure = createSecureServer({ key: certified?.key, cert: certified?.certificate }, (socket) =>
    couple(socket, connect(origin, "127.0.0.1")),
  );
  const passed: string[] = [];
  const securePort = await listening(secure);
  const outside = createServer((socket) => leadOn(socket, { passed, plain: origin, secure: securePort }));
  const proxyPort = await startProxy({ ...options, outside: await listening(outside) });
  return { proxy: `127.0.0.1:${proxyPort}`, authority: certified?.authority ?? "", passed };
}

async function issueCertificate(folder: string, names: readonly string[]) {
  const file = (name: string) => join(folder, name);
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const own = ["-keyout", file("ca.key"), "-out", file("ca.pem"), "-subj", "/CN=Throw-away authority"];
  await run("openssl", ["req", "-x509", ...curve, ...own]);
  const signer = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-subj", "/CN=server"];
  const extensions = ["-addext", `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}`];
  const out = ["-keyout", file("server.key"), "-out", file("server.pem")];
  await run("openssl", [
    "req",
    "-x509",
    ...curve,
    ...signer,
    ...extensions,
    "-addext",
    "basicConstraints=CA:FALSE",
    ...out,
  ]);
  const [key, certificate] = await Promise.all([readFile(file("server.key")), readFile(file("server.pem"))]);
  return { authority: file("ca.pem"), key, certificate };
}

interface Outside {
  readonly passed: string[];
  readonly plain: number;
  readonly secure: number;
}

/** The second proxy, which the first hands everything to: it stands for the internet. */
function leadOn(socket: Socket, { passed, plain, secure }: Outside): void {
  let head = "";
  const read = (piece: Buffer) => {
    head += piece.toString("latin1");
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    socket.off("data", read).pause();
    const line = head.split("\r\n")[0] ?? "";
    passed.push(line.replace(/ HTTP\/1\.[01]$/, "").replace(/^(\w+ http:.*?):80\//, "$1/"));
    const isTunnel = line.startsWith("CONNECT ");
    const onward = connect(isTunnel ? secure : plain, "127.0.0.1", () => {
      if (isTunnel) socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      const rest = isTunnel ? head.slice(end + 4) : head.replace(/^(\w+) http:\/\/[^/ ]+/, "$1 ");
      onward.write(Buffer.from(rest, "latin1"));
      couple(socket, onward);
    });
    onward.on("error", () => socket.destroy());
  };
  socket.on("data", read).on("error", () => {});
}

function couple(left: Socket, right: Socket): void {
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    from.pipe(to);
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
  }
}

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function startProxy({
  outside,
  login,
  tunnelPort,
}: CompanyNetworkOptions & { readonly outside: number }): Promise<number> {
  // A connection for each request, so that the far side sees the first line of all of them.
  const agent = new Agent({ keepAlive: false });
  const server = new ProxyServer({
    host: "127.0.0.1",
    port: 0,
    prepareRequestFunction({ username, password, port, isHttp }) {
      if (login !== undefined && (username !== login.user || password !== login.password))
        return { requestAuthentication: true };
      if (!isHttp && tunnelPort !== undefined && port !== tunnelPort)
        throw new RequestError("This port is not allowed.", 403);
      return { upstreamProxyUrl: `http://127.0.0.1:${outside}`, httpAgent: agent };
    },
  });
  await server.listen();
  onTestFinished(() => server.close(true));
  return server.port;
}
