/** Proxies that answer in every way but the right one, and connections that are kept. */
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHttpClient } from "../http-client.js";
import { openNetwork } from "./network.js";

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function clientVia(port: number) {
  const proxy = { value: `http://me:secret@127.0.0.1:${port}`, origin: "proxy" };
  const http = createHttpClient({ network: async () => openNetwork({ httpProxy: proxy, httpsProxy: proxy }) });
  onTestFinished(() => http.close());
  return http;
}

const get = (url: string, more = {}) => ({ method: "GET" as const, url, ...more });

describe("a proxy", () => {
  it("that does not answer as one is named", async () => {
    const cases: readonly (readonly [(socket: Socket) => void, RegExp])[] = [
      [(socket) => socket.end(), /closed the connection/],
      [(socket) => socket.destroy(), /the connection was closed|closed the connection/],
      [(socket) => socket.write("220 mail.example.com ESMTP\r\n"), /does not answer as an HTTP proxy/],
      [
        (socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n<p>No."),
        /does not allow connections to a\.test:443 \(403 Forbidden\)/,
      ],
      [
        (socket) => socket.end("HTTP/1.1 407 Auth\r\n\r\n"),
        /does not accept the user name and password in its address \(407\)/,
      ],
      [
        (socket) => socket.end("HTTP/1.0 502 Bad\u0007 Gateway\r\n\r\n"),
        /could not reach a\.test:443 \(502 Bad Gateway\)/,
      ],
    ];
    for (const [behave, message] of cases) {
      const port = await listen(createServer((socket) => void socket.once("data", () => behave(socket))));
      const error = await clientVia(port)
        .request(get("https://a.test/"))
        .catch((reason: Error) => reason);
      expect(error).toMatchObject({ kind: "connect", message: expect.stringMatching(message) });
      expect(error).toMatchObject({ message: expect.stringContaining(`http://127.0.0.1:${port}`) });
      expect(String(error)).not.toContain("secret");
    }
  });

  it("that is silent is left when the caller gives up", async () => {
    const stop = new AbortController();
    const port = await listen(createServer((socket) => void socket.once("data", () => stop.abort())));
    const asked = clientVia(port).request(get("https://a.test/", { signal: stop.signal }));
    await expect(asked).rejects.toMatchObject({ kind: "aborted" });
    const late = clientVia(await listen(createServer(() => {})));
    const timeouts = { connectMs: 30 };
    await expect(late.request(get("https://a.test/", { timeouts }))).rejects.toMatchObject({ kind: "timeout" });
  });

  it("gets whole addresses over a persistent connection, and its refusals do not count as the server's", async () => {
    const asked: IncomingMessage[] = [];
    const server = createHttpServer((request, response) => {
      asked.push(request);
      if (request.url?.endsWith("/no")) response.writeHead(403, { server: "squid/6.1" }).end("No.");
      else if (request.url?.endsWith("/own")) response.writeHead(403).end("The server's own.");
      else response.end("Yes.");
    });
    let connections = 0;
    server.on("connection", () => connections++);
    const http = clientVia(await listen(server));
    for (let count = 0; count < 2; count++) {
      const { status, text } = await http.request(get("http://a.test:81/path?q=1#part"));
      expect([status, await text(100)]).toEqual([200, "Yes."]);
    }
    expect(connections).toBe(1);
    expect(asked[0]).toMatchObject({ url: "http://a.test:81/path?q=1", headers: { host: "a.test:81" } });
    expect(asked[0]?.headers["proxy-authorization"]).toMatch(/^Basic /);
    await expect(http.request(get("http://a.test/no"))).rejects.toThrow(/does not allow connections to a\.test/);
    expect((await http.request(get("http://a.test/own"))).status).toBe(403);
  });

  it("is not used for this machine", async () => {
    const port = await listen(createHttpServer((_request, response) => response.end("Here.")));
    const nobody = await listen(createServer((socket) => socket.destroy()));
    const response = await clientVia(nobody).request(get(`http://localhost:${port}/`));
    expect(await response.text(100)).toBe("Here.");
    await expect(clientVia(nobody).request(get("http://a.test/"))).rejects.toMatchObject({ kind: "dropped" });
  });
});
