/** The HTTP surface, over a real socket and a real port, with the mock model behind the engine. */
import { stat } from "node:fs/promises";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../src/control/transports/http/routes/index.js";
import { reply, script } from "../../src/testkit/index.js";
import { type Served, StreamReader, serve } from "../support/served-engine.js";
import { verifies } from "../verifies.js";

let served: Served;
const requests: { readonly method: string; readonly path: string; readonly status: number }[] = [];
beforeAll(async () => {
  served = await serve({
    serve: { onRequest: (request) => requests.push(request) },
    script: script([
      reply().when("touch").tool("bash", { command: "touch made" }),
      reply().when("slow").delay(150).text("Slowly.").times(2),
      reply().text("Hello there.").times(Infinity),
    ]),
    flags: ["--permission-mode", "ask"],
  });
});
afterAll(() => served.close());

const post = (body: unknown = {}) => ({ method: "POST", body });

describe("a session over HTTP", () => {
  verifies(["C4", "C5"], "is created, takes input and is followed; the socket is the user's alone", async () => {
    expect((await stat(served.socket)).mode & 0o777).toBe(0o600);
    const session = await served.newSession();
    const turn = await served.ask(`/v1/sessions/${session}/input?wait=turn`, post({ content: "hi" }));
    expect(turn).toMatchObject({ status: 200, json: { session, outcome: "answered", text: "Hello there." } });
    expect(turn.json.usage.output).toBeGreaterThan(0);
    const found = await served.ask(`/v1/sessions/${session}?events=2`);
    expect(found.json).toMatchObject({ session: { id: session, live: true }, status: { busy: false } });
    expect(found.json.events.at(-1).kind).toBe("TurnEnded");
    expect(found.json.events).toHaveLength(2);
  });

  verifies(["C5"], "is logged by method, path and status, without what the query holds", async () => {
    await served.ask("/v1/health?word=hidden");
    await served.ask(`/v1/${"x".repeat(300)}`);
    await expect
      .poll(() => requests.find(({ path }) => path === "/v1/health"))
      .toMatchObject({ method: "GET", status: 200 });
    await expect.poll(() => requests.find(({ path }) => path.startsWith("/v1/xx"))?.path.length).toBe(200);
    expect(JSON.stringify(requests)).not.toContain("hidden");
  });

  verifies(["C5"], "ends with DELETE, which may be sent again; the log stays", async () => {
    const session = await served.newSession();
    await served.ask(`/v1/sessions/${session}/input?wait=turn`, post({ content: "hi" }));
    for (let times = 0; times < 2; times++) {
      expect((await served.ask(`/v1/sessions/${session}`, { method: "DELETE" })).status).toBe(204);
    }
    const { json } = await served.ask(`/v1/sessions/${session}`);
    expect(json.session.live).toBe(false);
    expect(json.events.at(-1).kind).toBe("SessionEnded");
    const unknown = await served.ask(`/v1/sessions/sess_${"0".repeat(26)}`, { method: "DELETE" });
    expect(unknown).toMatchObject({ status: 404, json: { error: { reason: "SessionNotFound" } } });
  });

  verifies(["C5"], "takes the answer to a question, the first one", async () => {
    const session = await served.newSession();
    const path = `/v1/sessions/${session}/events`;
    const stream = await StreamReader.open(served, path, { "x-oxbow-token": served.token });
    const turn = served.ask(`/v1/sessions/${session}/input?wait=turn`, post({ content: "touch it" }));
    await stream.until("PermissionRequested");
    stream.close();
    const question = { kind: "ListQuestions", session, request: {} };
    const { call } = (await served.ask("/v1/queries", post(question))).json.answer.questions[0];
    const answer = post({ call, decision: "deny", message: "no" });
    expect((await served.ask(`/v1/sessions/${session}/permission`, answer)).json).toEqual({ ok: true });
    const late = await served.ask(`/v1/sessions/${session}/permission`, answer);
    expect(late).toMatchObject({ status: 409, json: { error: { reason: "AlreadyAnswered" } } });
    expect((await turn).json.outcome).toBe("answered");
  });

  verifies(["C5", "L10"], "waits for the turn that takes its input; leaving does not stop a turn", async () => {
    const session = await served.newSession();
    const path = `/v1/sessions/${session}/input?wait=turn`;
    const headers = { "x-oxbow-token": served.token };
    const stream = await StreamReader.open(served, `/v1/sessions/${session}/events`, headers);
    const first = served.ask(path, post({ content: "slow one" }));
    await stream.until("TurnStarted");
    const refused = await served.ask(path, post({ content: "me too" }));
    expect(refused).toMatchObject({ status: 409, json: { error: { reason: "TurnInProgress" } } });
    const second = await served.ask(path, post({ content: [{ text: "next" }], queue: true }));
    expect([(await first).json.text, second.json.text]).toEqual(["Slowly.", "Hello there."]);

    const left = request({ socketPath: served.socket, path, method: "POST", headers, agent: false });
    left.on("error", () => {});
    left.end(JSON.stringify({ content: "slow again" }));
    await stream.untilCount("TurnStarted", 3);
    left.destroy();
    await stream.untilCount("TurnEnded", 3);
    stream.close();
    expect(stream.frames.at(-1)?.data).toMatchObject({ payload: { outcome: "answered", text: "Slowly." } });
  });

  it("takes every command and query in the same way", async () => {
    const session = await served.newSession();
    const status = await served.ask("/v1/queries", post({ kind: "GetStatus", session, request: {} }));
    expect(status.json).toMatchObject({ ok: true, answer: { session, busy: false } });
    const wrong = await served.ask("/v1/commands", post({ kind: "SetModel", session, payload: { model: 5 } }));
    expect(wrong).toMatchObject({ status: 400, json: { ok: false, failure: { reason: "InvalidInput" } } });
    const unknown = await served.ask("/v1/commands", post({ kind: "Explode", session }));
    expect(unknown).toMatchObject({ status: 400, json: { error: { reason: "InvalidInput" } } });
  });

  verifies(["C5"], "lists what there is to use", async () => {
    const session = await served.newSession();
    const fields = {
      profiles: "profiles",
      providers: "providers",
      models: "models",
      skills: "skills",
      "mcp/servers": "servers",
      "slash-commands": "commands",
      clients: "clients",
      tools: "tools",
    };
    for (const [path, field] of Object.entries(fields)) {
      const { status, json } = await served.ask(`/v1/${path}?session=${session}`);
      expect([path, status, Array.isArray(json[field])]).toEqual([path, 200, true]);
    }
    const { json } = await served.ask("/v1/slash-commands");
    expect(json.commands.map(({ name }: { name: string }) => name)).toContain("compact");
    const tools = (await served.ask("/v1/tools")).json.tools as { name: string; parameters: object }[];
    expect(tools.find(({ name }) => name === "read")?.parameters).toMatchObject({ type: "object" });
    expect((await served.ask("/v1/tools?session=sess_01ARZ3NDEKTSV4RRFFQ69G5FAV")).status).toBe(404);
    expect((await served.ask("/v1/health")).json).toMatchObject({ pid: process.pid });
  });
});

describe("a request that cannot be served", () => {
  verifies(["C2", "C5"], "is refused before the handshake; reading is not a command", async () => {
    const other = await serve();
    try {
      const refused = await other.ask("/v1/sessions", post());
      expect(refused).toMatchObject({ status: 428, json: { error: { reason: "HandshakeRequired" } } });
      expect((await other.ask("/v1/sessions")).status).toBe(200);
      const old = await other.ask("/v1/handshake?protocol_version=9.0.0");
      expect(old).toMatchObject({ status: 400, json: { error: { reason: "HandshakeVersionMismatch" } } });
      const { json } = await other.ask("/v1/handshake?protocol_version=0.1.0&name=curl");
      expect(json.client).toMatch(/^cli_/);
      expect((await other.ask("/v1/sessions", post())).status).toBe(201);
    } finally {
      await other.close();
    }
  });

  it("says what there is: 404 and 405, OPTIONS and HEAD", async () => {
    expect(await served.ask("/v1/nothing")).toMatchObject({ status: 404, json: { error: { reason: "NotFound" } } });
    const wrong = await served.ask("/v1/sessions", { method: "PUT" });
    expect([wrong.status, wrong.headers.allow]).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
    const options = await served.ask("/v1/sessions", { method: "OPTIONS" });
    expect([options.status, options.headers["access-control-allow-origin"]]).toEqual([204, undefined]);
    const head = await served.ask("/v1/sessions", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    const session = await served.newSession();
    const stream = await served.ask(`/v1/sessions/${session}/events`, { method: "HEAD" });
    expect([stream.status, stream.headers["content-type"]]).toEqual([200, "text/event-stream"]);
  });
});

describe("the OpenAPI document", () => {
  verifies(["C5"], "has every route, and every route is in it", async () => {
    const { json } = await served.ask("/v1/openapi.json");
    expect(json.openapi).toBe("3.1.0");
    const listed = Object.entries<Record<string, { operationId: string }>>(json.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`),
    );
    expect(listed.sort()).toEqual(ROUTES.map(({ method, path, name }) => `${method} ${path} ${name}`).sort());
  });
});
