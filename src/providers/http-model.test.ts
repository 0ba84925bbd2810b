import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../../test/support/waiting.js";
import { ManualClock } from "../base/clock.js";
import type { ModelEvent, ModelRequest, RequestContext } from "../engine/ports.js";
import { failure } from "../protocol/errors.js";
import type { JsonObject } from "../protocol/json.js";
import { createHttpClient, type HttpClient } from "../system/http-client.js";
import { createHttpModel, type Endpoint, usualTimeouts } from "./http-model.js";
import type { TraceRecord } from "./trace.js";
import { anthropic } from "./wire/anthropic.js";
import { ollama } from "./wire/ollama.js";
import { openaiChat } from "./wire/openai-chat.js";
import type { Wire } from "./wire/wire.js";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

type Handler = (response: ServerResponse, request: IncomingMessage, body: string) => void;

async function serve(handler: Handler): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    handler(response, request, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUps.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Setup {
  readonly wire?: Wire<unknown>;
  readonly endpoint?: Partial<Endpoint>;
  readonly clock?: ManualClock;
}

const KEY = ["sk", "test", "0123456789abcdef"].join("-");

function model(baseUrl: string, { wire = openaiChat, endpoint = {}, clock }: Setup = {}) {
  const http = createHttpClient(clock === undefined ? {} : { clock });
  cleanUps.push(() => http.close());
  const where = {
    provider: "acme",
    family: "acme",
    baseUrl,
    key: KEY,
    keyName: "ACME_API_KEY",
    local: true,
    ...endpoint,
  };
  return createHttpModel({ wire, endpoint: where, model: "m1", http });
}

const REQUEST: ModelRequest = {
  model: "ignored",
  system: "",
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  tools: [],
};

async function batches(
  made: ReturnType<typeof model>,
  signal = new AbortController().signal,
  more: Pick<RequestContext, "trace"> = {},
) {
  const out: (readonly ModelEvent[])[] = [];
  for await (const batch of made.stream(REQUEST, { model: made, signal, ...more })) out.push(batch);
  return out;
}

const events = async (...parameters: Parameters<typeof batches>) => (await batches(...parameters)).flat();
const chunk = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
const SSE = { "content-type": "text/event-stream" };

describe("[M1 M10] createHttpModel", () => {
  it("sends the request with its key and yields the answer", async () => {
    let seen: { headers: IncomingMessage["headers"]; body: { model: string }; url: string | undefined } | undefined;
    const url = await serve((response, request, body) => {
      seen = { headers: request.headers, body: JSON.parse(body), url: request.url };
      response.writeHead(200, SSE);
      response.end(`${chunk("Hello")}${chunk("", "stop")}data: [DONE]\n\n`);
    });
    const made = model(`${url}/v1/`, { endpoint: { headers: { "x-team": "blue" } } });
    expect(made).toMatchObject({ provider: "acme", family: "acme", model: "m1" });
    expect(await events(made)).toEqual([
      { type: "text", text: "Hello" },
      { type: "block", block: { type: "text", text: "Hello" } },
      { type: "stop", reason: "end" },
    ]);
    expect(seen).toMatchObject({
      url: "/v1/chat/completions",
      headers: { authorization: `Bearer ${KEY}`, "x-team": "blue", "content-type": "application/json" },
      body: { model: "m1" },
    });
  });

  it("yields one batch for each read of the network", async () => {
    let go = () => {};
    const url = await serve((response) => {
      response.writeHead(200, SSE);
      response.write(chunk("a") + chunk("b"));
      go = () => response.end(`${chunk("c", "stop")}data: [DONE]\n\n`);
    });
    const made = model(url);
    const out: (readonly ModelEvent[])[] = [];
    for await (const batch of made.stream(REQUEST, { model: made, signal: new AbortController().signal })) {
      out.push(batch);
      if (out.length === 1) go();
    }
    expect(out.map((batch) => batch.length)).toEqual([1, 3]);
  });

  it("finishes at [DONE] without waiting for the end of the body, and keeps a connection that ends soon", async () => {
    const sockets = new Set<Socket>();
    let finish = () => {};
    const url = await serve((response, request) => {
      sockets.add(request.socket);
      response.writeHead(200, SSE);
      response.write(`${chunk("a", "stop")}data: [DONE]\n\ndata: garbage\n\n`);
      finish = () => response.end();
    });
    const clock = new ManualClock();
    const made = model(url, { clock });
    expect((await events(made)).at(-1)).toEqual({ type: "stop", reason: "end" });
    finish();
    await until(() => clock.pending === 0);
    await events(made);
    expect(sockets.size).toBe(1);
  });

  it.each<[string, Wire<unknown>, number, string, string, string]>([
    ["an error", openaiChat, 401, "application/json", '{"error":{"message":"no"}}', "AuthFailed"],
    [
      "a rate limit",
      anthropic,
      429,
      "application/json",
      '{"type":"error","error":{"type":"rate_limit_error","message":"x"}}',
      "RateLimited",
    ],
    [
      "a missing model",
      ollama,
      404,
      "application/json",
      '{"error":"model \\"m1\\" not found, try pulling it first"}',
      "ModelNotFound",
    ],
    ["a gateway's page", openaiChat, 502, "text/html", "<html><title>Bad gateway</title></html>", "ProviderFailed"],
    [
      "a page instead of an answer",
      openaiChat,
      200,
      "text/html; charset=utf-8",
      "<html><title>Log in</title></html>",
      "MalformedResponse",
    ],
    ["a page without a type", anthropic, 200, "", "<html><title>Log in</title></html>", "MalformedResponse"],
    ["a page to Ollama's wire", ollama, 200, "", "<html>\n<title>Log in</title></html>", "MalformedResponse"],
    [
      "an answer that is not streamed",
      openaiChat,
      200,
      "application/json",
      '{"choices":[{"message":{"content":"Hi"}}]}',
      "MalformedResponse",
    ],
    [
      "an error with a good status",
      openaiChat,
      200,
      "application/json",
      '{"error":{"message":"no credit","code":402}}',
      "QuotaExceeded",
    ],
    [
      "an error in a stream",
      anthropic,
      200,
      "text/event-stream",
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n',
      "Overloaded",
    ],
    ["nothing", openaiChat, 200, "text/event-stream", "", "StreamInterrupted"],
    ["only comments", openaiChat, 200, "text/event-stream", ": processing\n\n: processing\n\n", "StreamInterrupted"],
    ["the beginning of an event", anthropic, 200, "text/event-stream", "event: message_start\nda", "StreamInterrupted"],
    ["an answer without its end", openaiChat, 200, "text/event-stream", chunk("half"), "StreamInterrupted"],
  ])("makes a failure of %s", async (_, wire, status, type, body, reason) => {
    const url = await serve((response) => {
      response.writeHead(status, type === "" ? {} : { "content-type": type });
      response.end(body);
    });
    const last = (await events(model(url, { wire }))).at(-1);
    expect(last).toMatchObject({ type: "failure", failure: { reason } });
  });

  it("keeps the text that came before the connection broke", async () => {
    const url = await serve((response) => {
      response.writeHead(200, SSE);
      response.write(chunk("half"));
      setImmediate(() => response.destroy());
    });
    expect(await events(model(url))).toMatchObject([
      { type: "text", text: "half" },
      { type: "failure", failure: { reason: "StreamInterrupted", retryable: true } },
    ]);
  });

  it("treats an answer with an end as complete, even if the connection then breaks", async () => {
    const url = await serve((response) => {
      response.writeHead(200, SSE);
      response.write(chunk("all", "stop"));
      setImmediate(() => response.destroy());
    });
    expect((await events(model(url))).at(-1)).toEqual({ type: "stop", reason: "end" });
  });

  it("reports that no server is there", async () => {
    const url = await serve(() => {});
    for (const cleanUp of cleanUps.splice(0)) cleanUp();
    const message = `Could not reach acme at ${url}/v1/chat/completions: connection refused. Is it running, and is the address right?`;
    expect(await events(model(url))).toEqual([
      { type: "failure", failure: { reason: "NetworkFailed", message, retryable: false } },
    ]);
    const bad = await events(model("htp:/nowhere"));
    expect(bad).toMatchObject([{ failure: { reason: "NetworkFailed", retryable: false } }]);
  });

  it("ends quietly when it is cancelled: before the answer, in it, and while an error is read", async () => {
    let sockets = 0;
    const url = await serve((response, request) => {
      sockets++;
      request.socket.on("close", () => sockets--);
      if (request.url?.startsWith("/silent")) return;
      response.writeHead(request.url?.startsWith("/error") ? 500 : 200, SSE);
      response.write(chunk("half"));
    });
    for (const path of ["silent", "error"]) {
      const controller = new AbortController();
      const running = events(model(`${url}/${path}`), controller.signal);
      await until(() => sockets === 1);
      controller.abort();
      expect(await running).toEqual([]);
      await until(() => sockets === 0);
    }
    const controller = new AbortController();
    const made = model(`${url}/body`);
    const seen: ModelEvent[] = [];
    for await (const batch of made.stream(REQUEST, { model: made, signal: controller.signal })) {
      seen.push(...batch);
      controller.abort();
    }
    expect(seen).toEqual([{ type: "text", text: "half" }]);
    await until(() => sockets === 0);
    expect(await events(made, controller.signal)).toEqual([]);
  });

  it("closes the connection when the reader stops reading", async () => {
    let closed = false;
    const url = await serve((response, request) => {
      request.socket.on("close", () => {
        closed = true;
      });
      response.writeHead(200, SSE);
      response.write(chunk("half"));
    });
    const made = model(url);
    for await (const _ of made.stream(REQUEST, { model: made, signal: new AbortController().signal })) break;
    await until(() => closed);
  });

  it("waits for a local model without end and not for a cloud one", async () => {
    expect(usualTimeouts({ local: true })).toEqual({ connectMs: 10_000 });
    const clock = new ManualClock();
    const url = await serve((response) => {
      response.writeHead(200, SSE);
      response.write(chunk("half"));
    });
    const made = model(url, { clock, endpoint: { local: false } });
    const seen: ModelEvent[] = [];
    for await (const batch of made.stream(REQUEST, { model: made, signal: new AbortController().signal })) {
      seen.push(...batch);
      if (seen.length === 1) until(() => clock.pending === 1).then(() => clock.advance(300_000));
    }
    expect(seen.at(-1)).toMatchObject({
      failure: { reason: "ProviderFailed", message: "acme failed: the server sent nothing for 300s", retryable: true },
    });
  });

  it("shows the key in no failure and no trace, even when the server repeats it in two pieces", async () => {
    const answer = chunk(`your key is ${KEY}!`);
    const server = createTcpServer((socket) => {
      socket.once("data", () => {
        const cut = answer.indexOf(KEY) + 7;
        socket.write(
          `HTTP/1.1 200 OK\r\nx-echo: ${KEY}\r\ncontent-length: ${answer.length}\r\n\r\n${answer.slice(0, cut)}`,
        );
        setImmediate(() => socket.write(answer.slice(cut)));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanUps.push(() => server.close());
    const records: TraceRecord[] = [];
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?key=${KEY}`;
    const trace = (record: JsonObject) => void records.push(record as unknown as TraceRecord);
    await events(model(base), undefined, { trace });
    expect(records.map((record) => record.type).filter((type) => type !== "body")).toEqual([
      "request",
      "response",
      "end",
    ]);
    const body = records.map((record) => (record.type === "body" ? record.text : "")).join("");
    expect(body).toBe(answer.replace(KEY, "[hidden]"));
    expect(JSON.stringify(records)).not.toContain(KEY);

    const url = await serve((response) => {
      response.writeHead(400);
      response.end(JSON.stringify({ error: { message: `the key ${KEY.toUpperCase()} or ${KEY} is odd` } }));
    });
    const odd = KEY.replace("sk-", "zz/");
    const echo = await serve((response) => {
      response.writeHead(400);
      response.end(JSON.stringify({ error: { message: `the key ${odd} is odd` } }));
    });
    expect(JSON.stringify(await events(model(url)))).not.toContain(KEY);
    expect(JSON.stringify(await events(model(echo, { endpoint: { key: odd } })))).not.toContain(odd);
  });

  it("authorises each request, and reports a failed authorisation", async () => {
    const seen: (string | undefined)[] = [];
    const url = await serve((response, request, body) => {
      seen.push(
        `${request.url} ${request.headers.authorization} ${request.headers["x-seat"]} ${JSON.parse(body).max_tokens}`,
      );
      response.writeHead(200, SSE);
      response.end(`${chunk("in")}data: [DONE]\n\n`);
    });
    let tokens = 0;
    const authorise = async () => ({ key: `token-${++tokens}`, headers: { "x-seat": "7" }, baseUrl: `${url}/moved` });
    const made = model("http://nowhere.invalid", { endpoint: { authorise, maxOutputTokens: 99 } });
    await events(made);
    expect(await events(made)).toContainEqual({ type: "text", text: "in" });
    expect(seen).toEqual([
      "/moved/chat/completions Bearer token-1 7 99",
      "/moved/chat/completions Bearer token-2 7 99",
    ]);
    const refused = failure("NoModel", { detail: "sign in first." });
    const locked = model(url, { endpoint: { authorise: async () => ({ failure: refused }) } });
    expect(await events(locked)).toEqual([{ type: "failure", failure: refused }]);
  });

  it("traces an error body and a broken connection", async () => {
    const records: TraceRecord[] = [];
    const trace = (record: JsonObject) => void records.push(record as unknown as TraceRecord);
    const url = await serve((response) => {
      response.writeHead(500);
      response.end("a short body");
    });
    await events(model(url), undefined, { trace });
    expect(records).toContainEqual({ type: "body", text: "a short body" });
    records.length = 0;
    for (const cleanUp of cleanUps.splice(0)) cleanUp();
    await events(model(url), undefined, { trace });
    expect(records.map((record) => record.type)).toEqual(["request", "error", "end"]);
  });
});

describe("[M1] answers in an unusual form", () => {
  it.each(["data:\n\n", "data: \n\n", "event: ping\ndata:\n\n", ": hello\n\n"])(
    "ignores the heartbeat %j",
    async (beat) => {
      const url = await serve((response) => {
        response.writeHead(200, SSE);
        response.end(`${beat}${chunk("Hel")}${beat}${beat}${chunk("lo", "stop")}${beat}data: [DONE]\n\n`);
      });
      expect(await events(model(url))).toContainEqual({ type: "block", block: { type: "text", text: "Hello" } });
    },
  );

  it.each([
    ["said in its headers", 200, { ...SSE, "content-encoding": "gzip" }],
    ["not said", 200, SSE],
    ["of an error", 429, { ...SSE, "content-encoding": "gzip" }],
  ])("names a gzip body that was not asked for: %s", async (_name, status, headers) => {
    const url = await serve((response) => {
      response.writeHead(status, headers);
      response.end(gzipSync(chunk("Hello", "stop")));
    });
    const [problem] = await events(model(url));
    expect(problem).toMatchObject({ type: "failure" });
    const reason = status === 200 ? "MalformedResponse" : "RateLimited";
    expect(problem).toMatchObject({ failure: { reason } });
    if (status === 200) expect(JSON.stringify(problem)).toContain("compressed with gzip");
  });

  it("ends a body without end, whatever it holds", async () => {
    const piece = Buffer.from(`: ${"x".repeat(8 * 1024 * 1024)}\n`);
    let sent = 0;
    async function* body() {
      for (;;) {
        sent += piece.length;
        yield piece;
      }
    }
    const response = { status: 200, headers: SSE, body: body(), text: async () => "", release() {}, destroy() {} };
    const endless = { request: async () => response, close() {} } as unknown as HttpClient;
    const found = await events(model("http://127.0.0.1:1", { endpoint: { http: endless } }));
    expect(found).toMatchObject([{ type: "failure", failure: { reason: "AnswerTooLong" } }]);
    expect(sent).toBeLessThan(300 * 1024 * 1024);
  });
});
