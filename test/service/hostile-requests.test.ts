/** Requests that are wrong on purpose: the server refuses them, says why in one form, leaks nothing and goes on. */
import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../src/control/transports/http/routes/index.js";
import { FAILURE_REASONS } from "../../src/protocol/errors.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type Answer, type Served, serve } from "../support/served-engine.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const LIMIT = 64 * 1024;

let served: Served;
let session: SessionId;
beforeAll(async () => {
  served = await serve({ serve: { limits: { bodyBytes: LIMIT, requestMs: 300, connectionsOfToken: 4 } } });
  session = await served.newSession();
});
afterAll(() => served.close());

/** Nothing about the machine or other sessions is in an error. */
function expectCleanError({ status, json, text }: Answer): void {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(FAILURE_REASONS).toContain((json.error ?? json.failure).reason);
  for (const secret of [served.home, served.token, "node_modules", "    at "]) expect(text).not.toContain(secret);
}

function pathOf(path: string): string {
  return path.replace("{id}", session).replace("{jti}", "tok_none");
}

const withBody = ROUTES.filter(({ body }) => body !== undefined);

/** Makes what a fuzzer sends where JSON is expected. */
const anyBody = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.json({ maxDepth: 4 }),
  fc.constantFrom(
    "",
    "null",
    "[]",
    "0",
    '"text"',
    "{",
    '{"a":',
    '{"content":null}',
    '{"__proto__":{"x":1}}',
    "\ufeff{}",
  ),
  fc.constantFrom("[".repeat(20_000), `{"content":${"[".repeat(5000)}${"]".repeat(5000)}}`, " ".repeat(LIMIT + 1)),
  fc
    .record(
      {
        kind: fc.oneof(fc.string(), fc.constantFrom("toString", "__proto__", "constructor", "SendInput", "GetStatus")),
        session: fc.oneof(fc.anything(), fc.constant("sess_../../etc/passwd")),
        payload: fc.jsonValue(),
        request: fc.jsonValue(),
        content: fc.jsonValue(),
        call: fc.jsonValue(),
        model: fc.jsonValue(),
        cwd: fc.constantFrom("/nonexistent", "\u0000", 5),
        resume: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value) ?? ""),
);

describe("a fuzzer", () => {
  verifies(
    ["C5", "C7"],
    "gets a refusal in one form from every route that reads a body",
    async () => {
      const before = process.memoryUsage().rss;
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...withBody), anyBody, async (route, raw) => {
          const answer = await served.ask(pathOf(route.path), { method: route.method, raw });
          if (answer.status < 300) return;
          expectCleanError(answer);
        }),
        { numRuns: times(40, 1500) },
      );
      expect((await served.ask("/v1/health")).status).toBe(200);
      expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
    },
    times(30_000, 200_000),
  );

  verifies(
    ["C5"],
    "gets no fault from strange paths, queries, methods and ids",
    async () => {
      const segment = fc.oneof(
        fc.string({ maxLength: 20 }).map(encodeURIComponent),
        fc.constantFrom("v1", "sessions", session, "events", "..", "%2e%2e", "%00", "%", "%zz", "__proto__", "sess_x"),
      );
      const path = fc.array(segment, { maxLength: 5 }).map((parts) => `/${parts.join("/")}`);
      const query = fc.constantFrom(
        "",
        "?",
        "?after=-1",
        "?after=1e99",
        "?events=999999999999",
        "?session=x",
        "?limit=0",
        "?a[]=1&a=%",
      );
      const method = fc.constantFrom("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "PROPFIND");
      await fc.assert(
        fc.asyncProperty(path, query, method, async (where, asked, how) => {
          // A stream has no end.
          fc.pre(!(how === "GET" && where.endsWith("/events")));
          const answer = await served.ask(`${where}${asked}`, { method: how, raw: how === "POST" ? "{}" : "" });
          expect(answer.status).toBeLessThan(500);
          if (answer.status >= 400 && how !== "HEAD") expectCleanError(answer);
        }),
        { numRuns: times(40, 5000) },
      );
    },
    times(30_000, 200_000),
  );

  it("gets no stream for a wrong Last-Event-ID", async () => {
    for (const id of ["-1", "x", "1.5", "9".repeat(30), "0x10", "@", "1@", "1@x", "1@2026"]) {
      const answer = await served.ask(`/v1/sessions/${session}/events`, { headers: { "last-event-id": id } });
      expect([id, answer.status]).toEqual([id, 400]);
    }
  });
});

/** Sends raw bytes and returns all that comes back. */
function sendRaw(bytes: string, { end = true }: { readonly end?: boolean } = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(served.url).port), "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1").on("data", (piece) => {
      text += piece;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
    socket.write(bytes, "latin1");
    if (end) socket.end();
  });
}

describe("bytes that are no proper request", () => {
  const head = () => `Host: ${new URL(served.url).host}\r\nX-Oxbow-Token: ${served.token}\r\n`;
  verifies(["C7"], "are refused by size, by number and by time", async () => {
    const large = { method: "POST", raw: " ".repeat(LIMIT + 1) };
    const refused = await served.ask("/v1/commands", large);
    expect(refused).toMatchObject({ status: 413, json: { error: { reason: "TooLarge" } } });
    const chunked = await served.ask("/v1/commands", { ...large, headers: { "transfer-encoding": "chunked" } });
    expect(chunked.status).toBe(413);
    expect(await sendRaw(`POST /v1/commands HTTP/1.1\r\n${head()}Content-Length: 99999999999\r\n\r\n`)).toContain(
      " 413 ",
    );
    const many = Array.from({ length: 101 }, (_, index) => `X-${index}: 1\r\n`).join("");
    expect(await sendRaw(`GET /v1/health HTTP/1.1\r\n${head()}${many}\r\n`)).toContain(" 431 ");
    expect(await sendRaw(`GET /v1/health HTTP/1.1\r\n${head()}X-Long: ${"x".repeat(20_000)}\r\n\r\n`)).toContain(
      " 431 ",
    );
    expect((await served.ask(`/v1/health?${"x".repeat(5000)}`)).status).toBe(414);
    expect(await sendRaw("GET /v1/health HTTP/1.1\r\nHost:", { end: false })).toContain(" 408 ");
    expect(await sendRaw("", { end: false })).toContain(" 408 ");
    const slow = `POST /v1/commands HTTP/1.1\r\n${head()}Content-Length: 10\r\n\r\n{`;
    expect(await sendRaw(slow, { end: false })).toContain(" 408 ");
  });

  verifies(["C7"], "are refused when they are not HTTP, or try to be two requests", async () => {
    const refused = [
      "\u0016\u0003\u0001\u0002\u0000\u0001",
      "GET\r\n\r\n",
      "GET /v1/health HTTP/9.9\r\n\r\n",
      `GET http://evil.example/v1/health HTTP/1.1\r\n${head()}\r\n`,
      "GET /v1/health HTTP/1.0\r\n\r\n",
      `GET /v1/health HTTP/1.1\r\nHost: evil.example\r\n${head()}\r\n`,
      `GET /v1/health HTTP/1.1\r\n${head()}Host: evil.example\r\n\r\n`,
      `GET /v1/health HTTP/1.1\r\n${head()}${head()}\r\n`,
      `GET /v1/health HTTP/1.1\r\n${head()}X-Oxbow-Token: other\r\n\r\n`,
      `GET /v1/health HTTP/1.1\r\n${head()}Authorization: Bearer other\r\n\r\n`,
      `GET ${served.url}/v1/health HTTP/1.1\r\n${head()}\r\n`,
      `GET /v1/ws HTTP/1.1\r\n${head()}Host: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      `POST /v1/commands HTTP/1.1\r\n${head()}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `POST /v1/commands HTTP/1.1\r\n${head()}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
      `POST /v1/commands HTTP/1.1\r\n${head()}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      `POST /v1/commands HTTP/1.1\r\n${head()}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
      `POST /v1/commands HTTP/1.1\r\n${head()}Content-Length: +2\r\n\r\n{}`,
      `POST /v1/commands HTTP/1.1\r\n${head()}Content-Length : 2\r\n\r\n{}`,
      `POST /v1/commands HTTP/1.1\r\n${head()}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
      `GET /v1/health HTTP/1.1\r\n${head()}X-Folded: a\r\n Host: evil.example\r\n\r\n`,
      `GET /v1/health HTTP/1.1\n${head().replaceAll("\r", "")}\n`,
      `POST /v1/commands HTTP/1.1\r\n${head()}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `POST /v1/commands HTTP/1.1\r\n${head()}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}`,
      `GET /v1/ws HTTP/1.1\r\n${head()}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      `GET /v1/health HTTP/1.1\r\n${head()}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
      ...["//[", "//", "//name/v1/health", "/\\"].flatMap((target) => [
        `GET ${target} HTTP/1.1\r\n${head()}\r\n`,
        `GET ${target} HTTP/1.1\r\n${head()}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      ]),
    ];
    for (const bytes of refused) {
      const [status = ""] = (await sendRaw(bytes)).split("\r\n");
      expect([bytes.slice(0, 60), status]).toEqual([bytes.slice(0, 60), expect.stringMatching(/^HTTP\/1\.1 4\d\d /)]);
    }
    // Node.js closes the connection of a proxy's client without an answer.
    expect(await sendRaw(`CONNECT evil.example:443 HTTP/1.1\r\n${head()}\r\n`)).toBe("");
    expect((await served.ask("/v1/health", { over: "port" })).status).toBe(200);
    // A proxy in front may have a password of its own, and a client may send its token in both ways.
    for (const authorization of ["Basic b3RoZXI=", `Bearer ${served.token}`])
      expect((await served.ask("/v1/health", { over: "port", headers: { authorization } })).status).toBe(200);
  });

  it("stops at a number of open requests for each token", async () => {
    const { token } = await served.served.tokens.make({ identity_class: "agent", sessions: [session] });
    const stream = `GET /v1/sessions/${session}/events HTTP/1.1\r\nHost: ${new URL(served.url).host}\r\nX-Oxbow-Token: ${token}\r\n\r\n`;
    const sockets = Array.from({ length: 4 }, () => connect(Number(new URL(served.url).port), "127.0.0.1"));
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once("data", resolve) && socket.write(stream))),
    );
    const fifth = await served.ask("/v1/sessions", { token });
    expect(fifth).toMatchObject({ status: 429, json: { error: { reason: "TooManyRequests" } } });
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve) && socket.destroy())),
    );
    while ((await served.ask("/v1/sessions", { token })).status !== 200);
  });
});
