/** Servers with an address that send more than a client can handle, each a real HTTP server. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { systemClock } from "../../base/clock.js";
import { createHttpClient } from "../../system/http-client.js";
import { type Connection, connect } from "./connection.js";
import { EventCount } from "./fetch.js";
import { isDeeper, openRemoteTransport } from "./remote-transport.js";
import type { ServerConfig } from "./server-config.js";
import { ServerRequests } from "./server-requests.js";

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const LIMITS = { messageBytes: 64 * 1024, windowMs: 10_000, messages: 500, bytes: 512 * 1024, requests: 60 };

interface Rpc {
  readonly id?: number;
  readonly method: string;
}

type Handle = (message: Rpc | undefined, response: ServerResponse, request: IncomingMessage) => void;

const RESULTS: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } },
  "tools/list": { tools: [{ name: "go", inputSchema: { type: "object" } }] },
};

/** Answers what a client asks at first; the rest is up to the test. */
async function open(kind: "http" | "sse", handle: Handle) {
  const server: Server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const message = body === "" ? undefined : (JSON.parse(body) as Rpc);
    const result = message && RESULTS[message.method];
    if (kind === "http" && result !== undefined)
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ ...answer(message), result }));
    else if (kind === "http" && message !== undefined && message.id === undefined) response.writeHead(202).end();
    else if (kind === "http" && message !== undefined && message.method !== "tools/call")
      response
        .writeHead(200, JSON_TYPE)
        .end(JSON.stringify({ ...answer(message), error: { code: -32601, message: "?" } }));
    else handle(message, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const log: string[] = [];
  let end: (problem: string | undefined) => void = () => {};
  const ended = new Promise<string | undefined>((resolve) => {
    end = resolve;
  });
  const http = createHttpClient();
  closing.push(() => http.close());
  const config: ServerConfig = {
    ...{ name: "h", scope: "user", path: "/c", transport: { kind, url, headers: {} }, eagerTools: 20 },
    ...{ disabledTools: [], startTimeoutMs: 5000, callTimeoutMs: 5000, trustsHints: false, network: "open" },
    ...{ sandbox: "on", writable: [], sampling: "off", unset: [] },
  };
  let transport: { readonly problem: string | undefined } | undefined;
  const connection: Connection = await connect({
    ...{ config, signal: new AbortController().signal, requests: new ServerRequests("h", "/") },
    onClose: () => end(transport?.problem),
    onListChanged: () => {},
    onProblem: () => {},
    onLog: (line) => void log.push(line),
    openProcess: () => Promise.reject(new Error("not used")),
    openRemote: async (which, onLog) => {
      const made = await openRemoteTransport({
        ...{ kind: which, url, headers: {}, http, clock: systemClock, limits: LIMITS, onLog },
      });
      transport = made;
      return made;
    },
  });
  closing.push(() => connection.close().catch(() => {}));
  const call = () =>
    connection.call(
      "go",
      {},
      {
        ...{ signal: new AbortController().signal, timeoutMs: 5000, needsTask: false, onProgress: () => {} },
      },
    );
  return { call, ended, log, connection };
}

const answer = (message: Rpc | undefined) => ({ jsonrpc: "2.0", id: message?.id });
const JSON_TYPE = { "content-type": "application/json" };
const EVENTS = { "content-type": "text/event-stream" };
const NOTE = `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } })}\n\n`;

/** Writes until the client hangs up. */
function pour(response: ServerResponse, piece: string): void {
  const write = () => {
    if (response.destroyed || response.writableEnded) return;
    if (response.write(piece)) setImmediate(write);
    else response.once("drain", write);
  };
  write();
}

describe("a server with an address", () => {
  for (const [what, piece, problem] of [
    ["messages without end", NOTE.repeat(20), "sent more messages than a client can handle"],
    ["comments without end", ":\n\n".repeat(50), "sent more messages than a client can handle"],
    ["one message without end", "data: x".padEnd(4096, "x"), "sent a message that is too long"],
  ] as const) {
    verifies(["E6"], `that answers a call with ${what} is cut off`, async () => {
      const { call, ended } = await open("http", (_message, response) => {
        pour(response.writeHead(200, EVENTS), piece);
      });
      await expect(call()).rejects.toThrow();
      expect(await ended).toBe(problem);
    });
  }

  it("that answers with a body that is too long is cut off", async () => {
    const { call, ended } = await open("http", (_message, response) => {
      pour(response.writeHead(200, JSON_TYPE), " ".repeat(4096));
    });
    await expect(call()).rejects.toThrow();
    expect(await ended).toBe("sent a message that is too long");
  });

  verifies(["E6"], "of the older kind that floods its stream is cut off", async () => {
    let stream: ServerResponse | undefined;
    const { ended } = await open("sse", (message, response, request) => {
      if (request.method === "GET") {
        stream = response.writeHead(200, EVENTS);
        stream.write("event: endpoint\ndata: /messages\n\n");
        return;
      }
      response.writeHead(202).end();
      const result = message && RESULTS[message.method];
      if (result !== undefined)
        stream?.write(`event: message\ndata: ${JSON.stringify({ ...answer(message), result })}\n\n`);
      else if (stream !== undefined) pour(stream, NOTE);
    });
    expect(await ended).toBe("sent more messages than a client can handle");
  });

  it("that ends its streams at once does not make the client ask without end", async () => {
    let opened = 0;
    const { ended } = await open("http", (_message, response) => {
      opened++;
      response.writeHead(200, EVENTS).end("id: 1\nretry: 1\ndata: \n\n");
    });
    expect(await ended).toBe("closes its streams too often");
    expect(opened).toBeLessThanOrEqual(LIMITS.requests);
  });

  it("that nests an answer too deep gives an error for that call", async () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const { call, log } = await open("http", (message, response) => {
      const result = `{"content":[],"structuredContent":{"a":${deep}}}`;
      response.writeHead(200, EVENTS);
      response.end(`data: {"jsonrpc":"2.0","id":${message?.id},"result":${result}}\n\n`);
    });
    await expect(call()).rejects.toThrow("nested too deep");
    expect(log).toContain("(a message that is nested too deep)");
  });
});

it("counts events by their blank lines, however they end and are cut", () => {
  for (const text of ["a\n\nb\n\n", "a\r\n\r\nb\r\n\r\n", "a\r\rb\r\r"]) {
    const count = new EventCount();
    let ended = 0;
    for (const byte of Buffer.from(`${text}rest`)) ended += count.take(Uint8Array.of(byte));
    expect([ended, count.open]).toEqual([2, 4]);
  }
});

it("finds deep values without recursion", () => {
  let value: unknown = 1;
  for (let level = 0; level < 50_000; level++) value = [value];
  expect(isDeeper(value, 100)).toBe(true);
  expect(isDeeper({ a: [{ b: 1 }] }, 3)).toBe(false);
  expect(isDeeper({ a: [{ b: [] }] }, 3)).toBe(true);
});
