import { getEventListeners } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../../test/support/waiting.js";
import { verifies } from "../../test/verifies.js";
import { ManualClock } from "../base/clock.js";
import { createHttpClient, type HttpClient, type HttpRequest, type HttpResponse } from "./http-client.js";
import { HttpError } from "./http-error.js";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function listen(server: Server | TcpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUps.push(() => server.close());
  if ("closeAllConnections" in server) cleanUps.push(() => server.closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function serve(handler: Handler): Promise<string> {
  return listen(
    createServer((request, response) => {
      request.resume();
      request.on("end", () => handler(request, response));
    }),
  );
}

function client(clock?: ManualClock): HttpClient {
  const made = createHttpClient(clock === undefined ? {} : { clock });
  cleanUps.push(() => made.close());
  return made;
}

async function readAll(response: HttpResponse): Promise<string> {
  let text = "";
  for await (const bytes of response.body) text += Buffer.from(bytes).toString("utf8");
  return text;
}

async function failureOf(promise: Promise<unknown>): Promise<HttpError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HttpError);
  return error as HttpError;
}

const get = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({ method: "GET", url, ...more });

describe("createHttpClient", () => {
  it("sends the body with its length, asks for no compression and gives status, headers and bytes", async () => {
    const url = await listen(
      createServer(async (request, response) => {
        let body = "";
        for await (const piece of request) body += piece;
        response.writeHead(201, { "X-Reply": "yes", "set-cookie": ["a=1", "b=2"] });
        response.end(JSON.stringify({ body, headers: request.headers, method: request.method }));
      }),
    );
    const response = await client().request({ method: "POST", url, headers: { "x-mine": "ü?" }, body: "größe" });
    const seen = JSON.parse(await readAll(response));
    expect(response).toMatchObject({ status: 201, headers: { "x-reply": "yes", "set-cookie": "a=1, b=2" } });
    expect(seen).toMatchObject({ body: "größe", method: "POST" });
    expect(seen.headers["content-length"]).toBe("7");
    expect(seen.headers["accept-encoding"]).toBeUndefined();
  });

  it("uses one connection again, also after a body that was released before its end", async () => {
    const sockets = new Set<Socket>();
    const url = await serve((request, response) => {
      sockets.add(request.socket);
      response.write("first");
      setImmediate(() => response.end(" rest"));
    });
    const clock = new ManualClock();
    const http = client(clock);
    await readAll(await http.request(get(url)));
    const released = await http.request(get(url));
    for await (const _ of released.body) {
      released.release();
      break;
    }
    released.destroy();
    await until(() => clock.pending === 0);
    await readAll(await http.request(get(url)));
    expect(sockets.size).toBe(1);
  });

  verifies(["O3"], "keeps few connections that it does not use, and not for long", async () => {
    const server = createServer((_request, response) => void response.end("ok"));
    const url = await listen(server);
    const open = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
    const patient = client();
    await Promise.all(Array.from({ length: 30 }, async () => readAll(await patient.request(get(url)))));
    await until(async () => (await open()) <= 8);
    expect(await open()).toBe(8);
    patient.close();
    const brief = createHttpClient({ idleMs: 20 });
    cleanUps.push(() => brief.close());
    await readAll(await brief.request(get(url)));
    await until(async () => (await open()) === 0);
  });

  it("gives up a connection whose released body does not end", async () => {
    const clock = new ManualClock();
    let closed = false;
    const url = await serve((request, response) => {
      request.socket.on("close", () => {
        closed = true;
      });
      response.write("endless");
    });
    const response = await client(clock).request(get(url));
    response.release();
    expect(closed).toBe(false);
    clock.advance(1000);
    await until(() => closed);
  });

  it("asks again on a new connection when a kept one turns out to be closed", async () => {
    let requests = 0;
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections++;
      socket.on("error", () => {});
      socket.on("data", () => {
        requests++;
        // The first connection answers once and dies when it is used a second time.
        if (requests === 2) socket.destroy();
        else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      });
    });
    const url = await listen(server);
    const http = client();
    expect(await readAll(await http.request(get(url)))).toBe("ok");
    expect(await readAll(await http.request(get(url)))).toBe("ok");
    expect({ requests, connections }).toEqual({ requests: 3, connections: 2 });
  });

  it("says with which code it could not connect", async () => {
    const url = await serve(() => {});
    for (const cleanUp of cleanUps.splice(0)) cleanUp();
    const error = await failureOf(client().request(get(url)));
    expect(error).toMatchObject({ kind: "connect", code: "ECONNREFUSED", message: "connection refused" });
    expect(await failureOf(client().request(get("ftp://127.0.0.1/")))).toMatchObject({ kind: "connect" });
    expect(await failureOf(client().request(get("not a url")))).toMatchObject({ code: "ERR_INVALID_URL" });
  });

  it("refuses a header that cannot be sent without showing its value", async () => {
    const request = client().request(get("http://127.0.0.1:1/", { headers: { "x-api-key": "one\ntwo" } }));
    const error = await failureOf(request);
    expect(error.code).toBe("ERR_INVALID_CHAR");
    expect(error.message).not.toContain("two");
  });

  it("says that a server which hung up before answering was reached", async () => {
    const url = await listen(createTcpServer((socket) => socket.once("data", () => socket.destroy())));
    expect(await failureOf(client().request(get(url)))).toMatchObject({ kind: "dropped", code: "ECONNRESET" });
  });

  it("delivers what arrived before the connection broke, then says that it broke", async () => {
    const url = await serve((_, response) => {
      response.write("half of it");
      setImmediate(() => response.destroy());
    });
    const response = await client().request(get(url));
    const seen: string[] = [];
    const reading = (async () => {
      for await (const bytes of response.body) seen.push(Buffer.from(bytes).toString());
    })();
    expect(await failureOf(reading)).toMatchObject({ kind: "dropped" });
    expect(seen.join("")).toBe("half of it");
  });

  it("does not lose bytes when the connection broke before a read", async () => {
    const url = await serve((_, response) => {
      response.write("early");
      setImmediate(() => response.destroy());
    });
    const response = await client().request(get(url));
    let text = "";
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    const reading = (async () => {
      for await (const bytes of response.body) text += Buffer.from(bytes).toString();
    })();
    await failureOf(reading);
    expect(text).toBe("early");
  });

  it("destroys the socket when the signal fires, before the answer and in the middle of it", async () => {
    let open = 0;
    const url = await serve((request, response) => {
      open++;
      request.socket.on("close", () => open--);
      if (request.url === "/body") response.write("begun");
    });
    const early = new AbortController();
    const waiting = client().request(get(url, { signal: early.signal }));
    await until(() => open === 1);
    early.abort("enough");
    expect(await failureOf(waiting)).toMatchObject({ kind: "aborted" });
    await until(() => open === 0);

    const late = new AbortController();
    const response = await client().request(get(`${url}/body`, { signal: late.signal }));
    const reading = (async () => {
      for await (const _ of response.body) late.abort();
    })();
    expect(await failureOf(reading)).toMatchObject({ kind: "aborted" });
    await until(() => open === 0);
    expect(await failureOf(client().request(get(url, { signal: late.signal })))).toMatchObject({ kind: "aborted" });
  });

  it("takes its listener off the signal when the exchange is over", async () => {
    let finish = () => {};
    const url = await serve((_, response) => {
      response.write("o");
      finish = () => response.end("k");
    });
    const { signal } = new AbortController();
    const response = await client().request(get(url, { signal }));
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    finish();
    expect(await readAll(response)).toBe("ok");
    await until(() => getEventListeners(signal, "abort").length === 0);
  });

  it("times out while connecting, while waiting for the answer and in the middle of it", async () => {
    const clock = new ManualClock();
    const silent = await listen(createTcpServer((socket) => socket.on("error", () => {})));
    const timeouts = { connectMs: 100, idleMs: 1000 };
    // The other side never starts TLS, so there is never a connection.
    const secure = client(clock).request(get(silent.replace("http:", "https:"), { timeouts }));
    await until(() => clock.pending === 1);
    clock.advance(100);
    expect(await failureOf(secure)).toMatchObject({ kind: "timeout", message: "no connection within 0.1s" });

    let received = false;
    const url = await serve((request, response) => {
      received = true;
      if (request.url === "/body") response.write("begun");
    });
    const waiting = client(clock).request(get(url, { timeouts }));
    await until(() => received);
    clock.advance(999);
    expect(clock.pending).toBe(1);
    clock.advance(1);
    expect(await failureOf(waiting)).toMatchObject({ kind: "timeout", message: "no response within 1s" });

    const response = await client(clock).request(get(`${url}/body`, { timeouts }));
    const reading = readAll(response);
    await until(() => clock.pending === 1);
    // The first piece takes the timer away, and the wait for the second sets it again.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1000);
    expect(await failureOf(reading)).toMatchObject({ kind: "timeout", message: "the server sent nothing for 1s" });
    expect(clock.pending).toBe(0);
  });

  it("reads a small body up to a limit and does not wait for the rest", async () => {
    const url = await serve((_, response) => {
      response.writeHead(500);
      response.write("x".repeat(1000));
    });
    const response = await client().request(get(url));
    expect(response.status).toBe(500);
    expect(await response.text(100)).toBe("x".repeat(100));
  });

  it("gives what it has of a small body that never ends", async () => {
    const clock = new ManualClock();
    const answer = "HTTP/1.1 500 No\r\ncontent-length: 99\r\n\r\npart";
    const url = await listen(createTcpServer((socket) => socket.on("data", () => socket.write(answer))));
    const response = await client(clock).request(get(url));
    const reading = response.text(1000);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10_000);
    expect(await reading).toBe("part");
  });

  it("follows no redirect", async () => {
    const url = await serve((_, response) => {
      response.writeHead(302, { location: "http://127.0.0.1:1/" });
      response.end();
    });
    expect(await client().request(get(url))).toMatchObject({ status: 302 });
  });

  it("makes the server wait when no one reads", async () => {
    const total = 64 * 1024 * 1024;
    let sent = 0;
    let blocked = false;
    const url = await serve((_, response) => {
      const piece = Buffer.alloc(1 << 20);
      const more = () => {
        while (sent < total) {
          sent += piece.length;
          if (!response.write(piece)) {
            blocked = true;
            response.once("drain", more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    const response = await client().request(get(url));
    await until(() => blocked);
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toBeLessThan(total);
    let received = 0;
    for await (const bytes of response.body) received += bytes.length;
    expect(received).toBe(total);
  });
});
