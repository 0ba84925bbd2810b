import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { ManualClock, systemClock } from "../../base/clock.js";
import { redact } from "../../security/redact/redact.js";
import { RedactingStream } from "../../security/redact/redacting-stream.js";
import { createHttpClient, type HttpClient, type HttpRequest } from "../../system/http-client.js";
import { HttpError, HttpFailure } from "../../system/http-error.js";
import { canonicalRequest, type Surroundings } from "./canonical.js";
import { recordingClient } from "./record.js";
import { type ReplayClient, replayingClient } from "./replay.js";
import { CASSETTE_VERSION, cassetteLine, type Exchange, parseCassette } from "./tape.js";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ID = "call_01JABCDEFGHJKMNPQRSTVWXYZ0";
const OTHER_ID = "call_01JZZZZZZZZZZZZZZZZZZZZZZZ";
const key = () => ["a", "key", "for", "tests", "1234567890"].join("-");
const secret = () => `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

function around(workspace: string, today = "2026-01-31"): Surroundings {
  return { places: [{ name: "workspace", path: workspace }], today, redact, digest: (text) => `of ${text.length}` };
}

function call(url: string, body: object, more: Partial<HttpRequest> = {}): HttpRequest {
  const headers = { accept: "text/event-stream", authorization: `Bearer ${key()}`, "x-unknown": "left out" };
  return { method: "POST", url: `${url}/v1/messages`, headers, body: JSON.stringify(body), ...more };
}

async function answer(http: HttpClient, request: HttpRequest) {
  const pieces: string[] = [];
  try {
    const response = await http.request(request);
    for await (const bytes of response.body) pieces.push(Buffer.from(bytes).toString());
    return { status: response.status, headers: response.headers, pieces };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { pieces, error };
  }
}

function tape(workspace = "/home/me/app") {
  const exchanges: Exchange[] = [];
  const http = recordingClient({
    ...around(workspace),
    http: createHttpClient(),
    clock: systemClock,
    write: (exchange) => exchanges.push(exchange),
    redactStream: () => new RedactingStream(),
  });
  return { http, exchanges };
}

/** Through the file's text, as a file would. */
function play(exchanges: readonly Exchange[], more: { workspace?: string; clock?: ManualClock; speed?: number } = {}) {
  const header = { type: "cassette" as const, version: CASSETTE_VERSION, recorded: "", variables: {} };
  const text = [header, ...exchanges].map(cassetteLine).join("");
  const { workspace = "/elsewhere/app", clock = systemClock, speed } = more;
  const cassette = parseCassette(text, "tape");
  return replayingClient({ ...around(workspace), cassette, file: "tape", clock, speed });
}

describe("a cassette", () => {
  verifies(["M18"], "gives the same pieces again, and an error where there was one", async () => {
    const url = await serve((request, response) => {
      if (request.url?.includes("limited")) {
        response.writeHead(429, { "retry-after": "7", "set-cookie": "session=1" }).end('{"error":"slow down"}');
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      response.write(Buffer.from("data: né\n\n"), () => response.destroy());
    });
    const { http, exchanges } = tape();
    const broken = await answer(http, call(url, { n: 1 }));
    const limited = await answer(http, call(url, { n: 2 }, { url: `${url}/limited?b=1&a=2` }));
    const refused = await answer(http, call("http://127.0.0.1:9", { n: 3 }));
    expect(broken).toMatchObject({ error: { kind: "dropped" } });
    const replayed = play(exchanges);
    const brokenAgain = await answer(replayed, call("http://other.example", { n: 1 }));
    expect(brokenAgain.pieces).toEqual(broken.pieces);
    expect(brokenAgain.error).toMatchObject({ kind: "dropped", message: broken.error?.message });
    const limitedAgain = await answer(
      replayed,
      call("http://other.example", { n: 2 }, { url: "http://x/limited?a=2&b=1" }),
    );
    expect(limitedAgain).toEqual({ status: 429, headers: { "retry-after": "7" }, pieces: limited.pieces });
    const refusedAgain = await answer(replayed, call("http://127.0.0.1:9", { n: 3 }));
    expect(refusedAgain.error).toMatchObject({ kind: "connect", code: refused.error?.code });
    expect(replayed.report()).toEqual({ left: [] });
  });

  verifies(["M18", "S4"], "contains no key and no secret, even if a server repeats them in pieces", async () => {
    const said = `data: your key ${key()} and the token ${secret()} are noted\n\n`;
    const url = await serve(async (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "x-account": "somebody" });
      for (const character of said) {
        response.write(character);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    const { http, exchanges } = tape();
    const live = await answer(http, call(`${url}/x`, { text: `use ${secret()}` }, { url: `${url}/x?key=${key()}` }));
    expect(live.pieces.join("")).toBe(said);
    const text = exchanges.map(cassetteLine).join("");
    for (const hidden of [key(), secret(), "x-account", "x-unknown"]) expect(text).not.toContain(hidden);
    expect(text).toContain("are noted");
  });

  verifies(["M18"], "moves the workspace with the run", async () => {
    const url = await serve((_request, response) => void response.end('data: {"path":"/home/me/app/a.txt"}\n\n'));
    const { http, exchanges } = tape("/home/me/app");
    await answer(http, call(url, { system: "Workspace: /home/me/app, not /home/me/apple" }));
    const replayed = play(exchanges, { workspace: "/elsewhere" });
    const { pieces } = await answer(replayed, call(url, { system: "Workspace: /elsewhere, not /home/me/apple" }));
    expect(pieces.join("")).toBe('data: {"path":"/elsewhere/a.txt"}\n\n');
  });

  verifies(["M18", "S4"], "finds what is to be hidden also where the model wrote it in pieces", async () => {
    const played = async (written: string) => {
      const frames = [...written].map(
        (piece, n) =>
          `event: delta\ndata: {"id": "chat-1", "n": ${n}, "delta": {"text": ${JSON.stringify(piece)}}}\n\n`,
      );
      const url = await serve((_request, response) => void response.end(`${frames.join("")}data: [DONE]\n\n`));
      const { http, exchanges } = tape("/home/me/app");
      await answer(http, call(url, {}));
      const { pieces } = await answer(play(exchanges, { workspace: "/elsewhere" }), call(url, {}));
      const lines = pieces.join("").split("\n");
      const said = lines.flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)).delta.text] : []));
      return { lines, said };
    };
    const plain = await played(`Look at /home/me/app/a.txt with ${key()}, not at /home/me/apple.`);
    expect(plain.said.join("")).toBe("Look at /elsewhere/a.txt with {{key}}, not at /home/me/apple.");
    // What is not concerned stays as it was, to the byte.
    expect(plain.lines[1]).toBe('data: {"id": "chat-1", "n": 0, "delta": {"text": "L"}}');
    const secretive = await played(`The token is ${secret()}, in /home/me/app.`);
    expect(secretive.said.join("")).toMatch(/^The token is «redacted:[\w-]+», in \/elsewhere\.$/);
    expect(secretive.said).toHaveLength(`The token is ${secret()}, in /home/me/app.`.length);
  });

  verifies(["M18"], "answers calls made side by side in any order, each once", async () => {
    const url = await serve((request, response) => {
      request.resume().on("end", () => response.end(`data: ${request.headers["x-n"]}\n\n`));
    });
    const { http, exchanges } = tape();
    for (const n of [1, 2, 2])
      await answer(http, call(url, { n }, { headers: { accept: "text/event-stream", "x-n": `${n}` } }));
    const replayed = play(exchanges);
    const said: (string | undefined)[] = [];
    for (const n of [2, 1, 2]) said.push((await answer(replayed, call(url, { n }))).pieces[0]);
    expect(said).toEqual(["data: 2\n\n", "data: 1\n\n", "data: 2\n\n"]);
    expect((await answer(replayed, call(url, { n: 1 }))).error).toBeInstanceOf(HttpFailure);
  });

  verifies(["M18"], "refuses what it does not hold, and everything after that", async () => {
    const url = await serve((_request, response) => void response.end("data: 1\n\n"));
    const { http, exchanges } = tape();
    await answer(http, call(url, { model: "a", messages: [{ text: "one\ntwo" }] }));
    const replayed: ReplayClient = play(exchanges);
    const { error } = await answer(replayed, call(url, { model: "b", messages: [{ text: "one\nthree" }] }));
    expect(error).toBeInstanceOf(HttpFailure);
    expect(error?.message).toContain("call 1 of 1 differs in body.messages[0].text and in 1 more");
    expect((await answer(replayed, call(url, { model: "a", messages: [{ text: "one\ntwo" }] }))).error).toBeInstanceOf(
      HttpFailure,
    );
    const { mismatch, left } = replayed.report();
    expect(mismatch?.differences).toBe(
      'at body.messages[0].text\n  @@ -1,2 +1,2 @@\n   one\n  -two\n  +three\nat body.model\n  expected  "a"\n  sent      "b"',
    );
    expect(left).toEqual(["call 1: POST /v1/messages (200)"]);
  });

  verifies(["M18"], "lookups may be repeated and left out", async () => {
    const url = await serve((_request, response) => void response.end("[]"));
    const { http, exchanges } = tape();
    const list = { method: "GET" as const, url: `${url}/v1/models` };
    await (await http.request(list)).text(100);
    expect(exchanges).toMatchObject([{ type: "lookup" }]);
    const replayed = play(exchanges);
    for (let i = 0; i < 2; i++) expect(await (await replayed.request(list)).text(100)).toBe("[]");
    await expect(replayed.request({ method: "GET", url: `${url}/other` })).rejects.toMatchObject({ kind: "connect" });
    expect(play(exchanges).report()).toEqual({ left: [] });
  });

  verifies(["M18"], "keeps the time that passed, and a cancel ends the wait", async () => {
    const chunks = [
      [100, "data: 1\n\n"],
      [400, "data: 2\n\n"],
    ] as const;
    const request = canonicalRequest(call("http://x", {}), around("/"));
    const exchange: Exchange = { type: "call", request, response: { status: 200, headers: {}, chunks } };
    const clock = new ManualClock();
    const http = play([exchange, exchange], { clock, speed: 2 });
    const cancel = new AbortController();
    const response = await http.request(call("http://x", {}, { signal: cancel.signal }));
    const seen: string[] = [];
    const reading = (async () => {
      for await (const bytes of response.body) seen.push(Buffer.from(bytes).toString());
    })();
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    await settle();
    clock.advance(49);
    await settle();
    expect(seen).toEqual([]);
    clock.advance(1);
    await settle();
    expect(seen).toEqual(["data: 1\n\n"]);
    cancel.abort();
    await expect(reading).rejects.toMatchObject({ kind: "aborted" });
    expect(clock.pending).toBe(0);
  });
});

describe("two requests are the same", () => {
  const same = (one: object, other: object) => {
    const a = canonicalRequest(call("http://one/api", one), around("/home/me/app", "2026-01-31"));
    const b = canonicalRequest(call("http://two/api", other), around("/tmp/x", "2026-02-01"));
    return JSON.stringify(a) === JSON.stringify(b);
  };
  it.each([
    ["with keys in another order", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ["with other ids", { id: ID, text: `see ${ID}` }, { id: OTHER_ID, text: `see ${OTHER_ID}` }],
    [
      "with other ids of nine characters",
      { id: "A1B2C3D4E", call_id: "A1B2C3D4E" },
      { id: "Z9Y8X7W6V", call_id: "Z9Y8X7W6V" },
    ],
    ["on a machine with less memory", { options: { num_ctx: 8192 } }, { options: { num_ctx: 4096 } }],
    ["in another folder", { text: "in /home/me/app/src and /home/me/app." }, { text: "in /tmp/x/src and /tmp/x." }],
    ["on another day", { text: "Date: 2026-01-31\n" }, { text: "Date: 2026-02-01\n" }],
    ["at another time", { text: "at 2026-01-31T10:00:00Z" }, { text: "at 2026-03-01T10:00:00.123+01:00" }],
    [
      "with another mark",
      { text: "<untrusted-bcdfghjkbcdfghjk a> <approved-bcd>" },
      { text: "<untrusted-tttttttttttttttt a> <approved-ttt>" },
    ],
  ])("%s", (_, one, other) => {
    expect(same(one, other)).toBe(true);
  });
  it.each([
    ["with another text", { text: "a" }, { text: "b" }],
    ["with ids mixed up", { a: ID, b: OTHER_ID, c: ID }, { a: ID, b: OTHER_ID, c: OTHER_ID }],
    ["with another word of nine characters", { text: "A1B2C3D4E" }, { text: "Z9Y8X7W6V" }],
    ["with another order of messages", { a: [1, 2] }, { a: [2, 1] }],
    ["with another image", { a: `${"A".repeat(4000)}` }, { a: `${"A".repeat(4004)}` }],
    ["on days that are not today", { text: "2020-01-01" }, { text: "2020-01-02" }],
    ["with one field more", { a: 1 }, { a: 1, b: null }],
  ])("but not %s", (_, one, other) => {
    expect(same(one, other)).toBe(false);
  });
});

describe("a file that is not a cassette", () => {
  it.each([
    ["", "is not a cassette"],
    ["hello", "tape:1 is not a line"],
    ['{"type":"call"}', "is not a cassette"],
    ['{"type":"cassette","version":9}', "version 9"],
    ['{"type":"cassette","version":1}\n{"type":"call","request":{}}', "tape:2 is not a line"],
  ])("%j is refused", (text, message) => {
    expect(() => parseCassette(text, "tape")).toThrow(message);
  });
});
