import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Asked, ask, readEvents } from "../../../test/library/http.js";
import { until } from "../../../test/support/waiting.js";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import type { HarnessEvent } from "./simple-events.js";
import {
  createServer,
  type ListeningServer,
  type ListenOptions,
  type ServedHarness,
  type ServerOptions,
} from "./simple-http.js";

/** A harness that does what the test says, when it says it. */
class Puppet implements ServedHarness {
  readonly prompts: string[] = [];
  readonly listeners = new Set<(event: HarnessEvent) => void>();
  busy = false;
  cancels = 0;
  fail: (error: Error) => void = () => {};

  prompt(content: string): Promise<void> {
    this.prompts.push(content);
    this.busy = true;
    return new Promise((_resolve, reject) => {
      this.fail = (error) => {
        this.busy = false;
        reject(error);
      };
    });
  }

  cancel(): void {
    this.cancels++;
    this.busy = false;
  }

  subscribe(listener: (event: HarnessEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  say(event: HarnessEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

const servers: ListeningServer[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) await server.close();
});

async function serve(options: ServerOptions = {}, place: ListenOptions = {}) {
  const puppet = new Puppet();
  const server = await createServer(puppet, options).listen(place);
  servers.push(server);
  const auth: Record<string, string> = server.token === undefined ? {} : { "x-oxbow-token": server.token };
  const post = (path: string, asked: Asked = {}) =>
    ask(`${server.url}${path}`, { method: "POST", ...asked, headers: { ...auth, ...asked.headers } });
  return { puppet, server, auth, post, events: `${server.url}/events` };
}

/** Bytes as they are, for what no client would send. */
function exchange(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname.replace(/[[\]]/g, ""), () => socket.end(request));
    sockets.push(socket);
    let text = "";
    socket.on("data", (piece) => {
      text += piece.toString();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });
}

describe("GET /events", () => {
  verifies(["C6"], "has the shapes of the specification, to the letter", async () => {
    const { puppet, auth, events } = await serve({ clock: new ManualClock(1_234_567_890_999) });
    const reader = await readEvents(events, auth);
    expect(reader.response.headers["content-type"]).toBe("text/event-stream");
    puppet.say({ type: "user", content: "a\nb" });
    puppet.say({ type: "text", content: "ä" });
    puppet.say({ type: "tool_call", id: "1", name: "read", input: { path: "x" } });
    puppet.say({ type: "tool_result", id: "1", result: "r", isError: false });
    puppet.say({ type: "reasoning", content: "hm" });
    puppet.say({ type: "status", state: "idle", message: "Ready." });
    await reader.until(({ events: seen }) => seen.length === 6);
    expect(reader.text).toBe(
      [
        'data: {"type":"user","content":"a\\nb","timestamp":1234567890}',
        'data: {"type":"text","content":"ä","timestamp":1234567890}',
        'data: {"type":"tool_call","id":"1","name":"read","input":{"path":"x"},"timestamp":1234567890}',
        'data: {"type":"tool_result","id":"1","result":"r","isError":false,"timestamp":1234567890}',
        'data: {"type":"reasoning","content":"hm","timestamp":1234567890}',
        'data: {"type":"status","state":"idle","message":"Ready."}',
        "",
      ].join("\n\n"),
    );
  });

  verifies(["C6"], "sends a heartbeat comment every 30 seconds, to each reader", async () => {
    const clock = new ManualClock();
    const { auth, events, server } = await serve({ clock });
    const first = await readEvents(events, auth);
    clock.advance(10_000);
    const second = await readEvents(events, auth);
    clock.advance(19_999);
    expect(first.text).toBe("");
    clock.advance(1);
    await first.until(({ text }) => text === ": heartbeat\n\n");
    expect(second.text).toBe("");
    clock.advance(60_000);
    await first.until(({ text }) => text === ": heartbeat\n\n".repeat(3));
    await second.until(({ text }) => text === ": heartbeat\n\n".repeat(2));
    expect(first.events).toEqual([]);
    await server.close();
    expect(clock.pending).toBe(0);
  });

  verifies(["C6"], "serves several readers, and one that leaves costs nothing more", async () => {
    const clock = new ManualClock();
    const { puppet, auth, events } = await serve({ clock });
    const readers = await Promise.all([1, 2, 3].map(() => readEvents(events, auth)));
    readers[1]?.leave();
    await until(() => clock.pending <= 2);
    puppet.say({ type: "text", content: "still here" });
    for (const n of [0, 2]) await readers[n]?.until(({ events: seen }) => seen.length === 1);
    const late = await readEvents(events, auth);
    puppet.say({ type: "text", content: "late" });
    await late.until(({ events: seen }) => seen.length === 1);
    expect(late.events[0]).toMatchObject({ content: "late" });
  });

  verifies(["C6"], "cuts off a reader that does not read, and the others get everything", async () => {
    const { puppet, auth, events } = await serve();
    const [slow, fast] = await Promise.all([readEvents(events, auth), readEvents(events, auth)]);
    slow.response.pause();
    const content = "x".repeat(512 * 1024);
    // More than the sockets of this machine hold, in pieces the fast reader keeps up with.
    const count = 60;
    for (let i = 1; i <= count; i++) {
      puppet.say({ type: "text", content });
      await fast.until(({ text }) => text.length > i * content.length);
    }
    slow.response.resume();
    expect(await slow.ended).toBe("broken");
    expect(slow.text.length).toBeLessThan(fast.text.length);
    expect(fast.events).toHaveLength(count);
  });

  it("keeps a reader that reads, whatever the size of an event", async () => {
    const { puppet, auth, events } = await serve();
    const reader = await readEvents(events, auth);
    puppet.say({ type: "text", content: "y".repeat(3 * 1024 * 1024) });
    await reader.until(({ text }) => text.endsWith("\n\n"));
    puppet.say({ type: "text", content: "next" });
    await reader.until(({ text }) => text.includes("next"));
  });
});

describe("POST /prompt", () => {
  verifies(["C6"], "accepts a prompt at once and refuses a second while it runs", async () => {
    const errors: unknown[] = [];
    const { puppet, post } = await serve({ onError: (error) => errors.push(error) });
    const first = await post("/prompt", { body: '{"content": "Hallo, Welt ✓"}' });
    expect([first.status, first.json]).toEqual([202, { accepted: true }]);
    const second = await post("/prompt", { body: '{"content": "again"}' });
    expect(second.status).toBe(409);
    expect(second.json).toEqual({
      error: "A prompt is already running. Wait for the idle status, or POST /cancel first.",
    });
    expect(puppet.prompts).toEqual(["Hallo, Welt ✓"]);
    const fault = new Error("planted");
    puppet.fail(fault);
    await new Promise(setImmediate);
    expect(errors).toEqual([fault]);
    expect((await post("/prompt", { body: '{"content": "again"}' })).status).toBe(202);
  });

  it.each([
    ["", /must be JSON such as/],
    ["{", /must be JSON such as/],
    ["[]", /"content" is not a string/],
    ["null", /"content" is not a string/],
    ['{"content": 7}', /"content" is not a string/],
    ['{"prompt": "x"}', /"content" is not a string/],
    ['{"content": " "}', /"content" is empty/],
    [Buffer.from([0x22, 0xff, 0x22]), /not valid|encoded data/],
  ])("answers 400 to %j", async (body, message) => {
    const { puppet, post } = await serve();
    const answer = await post("/prompt", { body });
    expect(answer.status).toBe(400);
    expect((answer.json as { error: string }).error).toMatch(message);
    expect(puppet.prompts).toEqual([]);
  });

  it("answers 413 to a body over the limit, to the byte, with or without a length", async () => {
    const { puppet, post } = await serve({ maxBodyBytes: 100 });
    const fitting = `{"content":"${"x".repeat(86)}"}`;
    expect(fitting).toHaveLength(100);
    expect((await post("/prompt", { body: `${fitting} ` })).status).toBe(413);
    const chunked = { "transfer-encoding": "chunked" };
    const large = await post("/prompt", { body: "z".repeat(5_000_000), headers: chunked });
    expect([large.status, large.json]).toEqual([413, { error: "The body is larger than 100 bytes." }]);
    expect((await post("/prompt", { body: fitting })).status).toBe(202);
    expect(puppet.prompts).toHaveLength(1);
  });

  it("survives a sender that goes away in the middle", async () => {
    const { puppet, server, post } = await serve();
    const { port } = new URL(server.url);
    const head = `POST /prompt HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Oxbow-Token: ${server.token}\r\nContent-Length: 50\r\n\r\n{"con`;
    await exchange(server.url, head);
    expect((await post("/prompt", { body: '{"content": "next"}' })).status).toBe(202);
    expect(puppet.prompts).toEqual(["next"]);
  });
});

describe("POST /cancel", () => {
  verifies(["C6"], "cancels what runs, and is safe when nothing does", async () => {
    const { puppet, post } = await serve();
    expect(await post("/cancel")).toMatchObject({ status: 202, json: { cancelling: false } });
    await post("/prompt", { body: '{"content": "x"}' });
    expect(await post("/cancel", { body: "ignored" })).toMatchObject({ status: 202, json: { cancelling: true } });
    expect(puppet.cancels).toBe(2);
  });
});

describe("who is let in", () => {
  verifies(
    ["C6"],
    "only requests that name this server: DNS rebinding is refused, with the token and without",
    async () => {
      const { server, auth, puppet, post } = await serve();
      const { port } = new URL(server.url);
      for (const headers of [auth, {}]) {
        const rebound = await ask(`${server.url}/prompt`, {
          method: "POST",
          headers: { ...headers, host: `evil.example:${port}` },
          body: '{"content": "x"}',
        });
        expect(rebound.status).toBe(403);
        expect((rebound.json as { error: string }).error).toContain("Host header");
      }
      expect(puppet.prompts).toEqual([]);
      expect((await post("/prompt", { headers: { host: `localhost:${port}` }, body: '{"content": "x"}' })).status).toBe(
        202,
      );
      expect(await exchange(server.url, "GET /events HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1.1 403 /);
    },
  );

  verifies(["C6"], "only with the token, in a header or, for events, in the address", async () => {
    const { server, auth, puppet } = await serve();
    expect(server.token).toMatch(/^[\w-]{43}$/);
    const body = '{"content": "x"}';
    for (const [path, method] of [
      ["/events", "GET"],
      ["/prompt", "POST"],
      ["/cancel", "POST"],
      [`/prompt?token=${server.token}`, "POST"],
      ["/events?token=wrong", "GET"],
      ["/nothing", "GET"],
    ] as const) {
      const refused = await ask(`${server.url}${path}`, { method, ...(method === "POST" && { body }) });
      expect([path, refused.status]).toEqual([path, 401]);
      expect(refused.headers["www-authenticate"]).toBe("Bearer");
    }
    expect([puppet.prompts.length, puppet.cancels]).toEqual([0, 0]);
    await readEvents(`${server.url}/events?token=${server.token}`);
    await readEvents(`${server.url}/events`, { authorization: `Bearer ${server.token}` });
    await readEvents(`${server.url}/events`, auth);
  });

  it("everyone on this machine when the token is switched off, but still no foreign page", async () => {
    const { server, post } = await serve({ token: false });
    expect(server.token).toBeUndefined();
    await readEvents(`${server.url}/events`);
    const page = { headers: { origin: "http://evil.example", "content-type": "text/plain" }, body: '{"content": "x"}' };
    expect((await post("/prompt", page)).status).toBe(403);
  });

  it("with a token of one's own, which may not be empty", async () => {
    const own = ["my", "own"].join("-");
    const { server, post } = await serve({ token: own });
    expect(server.token).toBe(own);
    expect((await post("/cancel")).status).toBe(202);
    await expect(createServer(new Puppet(), { token: "" }).listen()).rejects.toThrow("empty token");
  });

  it("pages of allowed origins, with what a browser wants to hear", async () => {
    const origin = "http://localhost:5173";
    const { server, post } = await serve({ origins: [origin] });
    const preflight = await ask(`${server.url}/prompt`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "x-oxbow-token" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-origin"]).toBe(origin);
    expect(preflight.headers["access-control-allow-headers"]).toContain("x-oxbow-token");
    const asked = await post("/cancel", { headers: { origin } });
    expect([asked.status, asked.headers["access-control-allow-origin"]]).toEqual([202, origin]);
    const foreign = await ask(`${server.url}/prompt`, {
      method: "OPTIONS",
      headers: { origin: "http://evil.example" },
    });
    expect(foreign.status).toBe(403);
    expect(foreign.headers).not.toHaveProperty("access-control-allow-origin");
  });

  it("for what there is: 404 and 405 say what that is", async () => {
    const { server, auth } = await serve();
    const missing = await ask(`${server.url}/other`, { headers: auth });
    expect(missing).toMatchObject({
      status: 404,
      json: { error: "There is no /other. There are GET /events, POST /prompt and POST /cancel." },
    });
    const wrong = await ask(`${server.url}/prompt`, { headers: auth });
    expect([wrong.status, wrong.headers.allow]).toEqual([405, "POST"]);
    expect(wrong.json).toEqual({ error: "/prompt takes POST, not GET." });
  });
});

describe("listening", () => {
  verifies(["C6"], "happens on this machine only", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.com"]) {
      await expect(createServer(new Puppet()).listen({ host })).rejects.toThrow(`Refused to listen on "${host}"`);
    }
    expect((await serve()).server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("works on ::1 too, where the machine has it", async (context) => {
    const six = await serve({}, { host: "::1" }).catch((error: Error) => error);
    if (six instanceof Error) return context.skip(`needs the address ::1: ${six.message}`);
    expect(six.server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await six.post("/cancel")).status).toBe(202);
  });

  it("says when the port is taken", async () => {
    const other = createTcpServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const message = `Cannot listen on 127.0.0.1 port ${port}: the port is in use.`;
    await expect(createServer(new Puppet()).listen({ port })).rejects.toThrow(message);
    await new Promise((resolve) => other.close(resolve));
  });

  it("ends with close: streams in good order, idle and half-open sockets at once, and the harness is let go", async () => {
    const { puppet, server, auth, events } = await serve();
    const reader = await readEvents(events, auth);
    const { port } = new URL(server.url);
    const idle = await new Promise<Socket>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1", () => resolve(socket));
    });
    idle.on("error", () => {});
    const gone = new Promise((resolve) => idle.on("close", resolve));
    idle.write(`POST /prompt HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`);
    puppet.say({ type: "text", content: "last words" });
    await Promise.all([server.close(), server.close()]);
    idle.resume();
    await gone;
    expect(await reader.ended).toBe("ended");
    expect(reader.events).toMatchObject([{ content: "last words" }]);
    expect(puppet.listeners.size).toBe(0);
    await expect(ask(events)).rejects.toThrow("ECONNREFUSED");
  });
});
