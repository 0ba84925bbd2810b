/** Shows who may use the service: tokens, their scope and their end, addresses, origins and limits. */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { ManualClock, systemClock } from "../../src/base/clock.js";
import { makeClaims } from "../../src/control/auth/claims.js";
import { openSigningKey } from "../../src/control/auth/signing-key.js";
import { signToken } from "../../src/control/auth/token-text.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { reply, script } from "../../src/testkit/index.js";
import { temporaryFolder } from "../support/program.js";
import { type Served, StreamReader, serve } from "../support/served-engine.js";
import { verifies } from "../verifies.js";

let served: Served;
let session: SessionId;
let other: SessionId;
beforeAll(async () => {
  served = await serve({ script: script([reply().text("Hello.").times(Infinity)]) });
  session = await served.newSession();
  other = await served.newSession();
});
afterAll(() => served.close());

const post = (body: unknown = {}) => ({ method: "POST", body });

async function agentToken(more: object = {}): Promise<string> {
  const { token } = await served.served.tokens.make({ identity_class: "agent", sessions: [session], ...more });
  await served.ask("/v1/handshake", { token });
  return token;
}

describe("a token for one session", () => {
  verifies(["C7", "P4"], "reaches that session only, and nothing of the others", async () => {
    const token = await agentToken();
    expect((await served.ask(`/v1/sessions/${session}`, { token })).status).toBe(200);
    for (const path of [`/v1/sessions/${other}`, `/v1/sessions/${other}/events`, `/v1/tools?session=${other}`]) {
      const { status, text } = await served.ask(path, { token });
      expect([path, status]).toEqual([path, 403]);
      expect(text).not.toContain(served.hosted.root);
    }
    const health = await served.ask("/v1/health", { token });
    expect(health.json).toMatchObject({ sessions: 1, version: expect.any(String) });
    expect(health.text).not.toContain(served.home);
    const { json } = await served.ask("/v1/sessions", { token });
    expect(json.sessions.map(({ id }: { id: string }) => id).filter((id: string) => id !== session)).toEqual([]);
    for (const [path, body] of [
      [`/v1/sessions/${other}/input`, { content: "hi" }],
      [`/v1/sessions/${other}/cancel`, {}],
      ["/v1/sessions", {}],
      ["/v1/commands", { kind: "EndSession", session: other, payload: {} }],
    ] as const) {
      expect([path, (await served.ask(path, { ...post(body), token })).status]).toEqual([path, 403]);
    }
    expect((await served.ask(`/v1/sessions/${other}`, { token, method: "DELETE" })).status).toBe(403);
  });

  verifies(["C7", "P4"], "sends its commands only, and an agent never answers, lists or revokes", async () => {
    const token = await agentToken({ commands: ["SendInput"] });
    const turn = await served.ask(`/v1/sessions/${session}/input?wait=turn`, { ...post({ content: "hi" }), token });
    expect(turn.json).toMatchObject({ outcome: "answered" });
    expect((await served.ask(`/v1/sessions/${session}/cancel`, { ...post(), token })).status).toBe(403);
    expect((await served.ask("/v1/auth/tokens", { token })).status).toBe(403);
    const free = await agentToken();
    const answer = post({ call: `call_${"0".repeat(26)}`, decision: "allow_once" });
    expect((await served.ask(`/v1/sessions/${session}/permission`, { ...answer, token: free })).status).toBe(400);
    expect((await served.ask(`/v1/sessions/${session}/mode`, { ...post({ mode: "allow" }), token: free })).status).toBe(
      403,
    );
    expect((await served.ask(`/v1/sessions/${session}/mode`, { ...post({ mode: "auto" }), token: free })).status).toBe(
      400,
    );
    expect((await served.ask("/v1/auth/tokens/tok_1", { method: "DELETE", token: free })).status).toBe(403);
  });

  it("is a client of its own: another token cannot use it", async () => {
    const mine = (await served.ask("/v1/handshake")).json.client;
    const token = await agentToken();
    const headers = { "x-oxbow-client": mine };
    const asked = await served.ask(`/v1/sessions/${session}/cancel`, { ...post(), token, headers });
    expect(asked).toMatchObject({ status: 428, json: { error: { reason: "HandshakeRequired" } } });
  });

  verifies(["C7"], "ends its streams, sockets and requests when it is revoked", async () => {
    const { token, claims } = await served.served.tokens.make({ identity_class: "agent", sessions: [session] });
    const headers = { "x-oxbow-token": token };
    const stream = await StreamReader.open(served, `/v1/sessions/${session}/events`, headers);
    const socket = new WebSocket(`${served.url.replace("http", "ws")}/v1/ws?session=${session}`, { headers });
    await new Promise((resolve) => socket.once("open", resolve));
    const closed = new Promise((resolve) => socket.once("close", (code, reason) => resolve([code, String(reason)])));
    expect((await served.ask(`/v1/auth/tokens/${claims.jti}`, { method: "DELETE" })).status).toBe(204);
    await stream.ended;
    expect(await closed).toEqual([4401, "TokenRevoked"]);
    const asked = await served.ask("/v1/sessions", { token });
    expect(asked).toMatchObject({ status: 401, json: { error: { reason: "TokenRevoked" } } });
    expect((await served.ask(`/v1/auth/tokens/${claims.jti}`, { method: "DELETE" })).status).toBe(204);
  });
});

describe("a wrong token", () => {
  verifies(["C7"], "is refused: none, forged, expired, not yet valid, of another version", async () => {
    const key = await openSigningKey(join(served.home, "state"), systemClock);
    const now = Date.now() / 1000;
    const claims = makeClaims({ identity_class: "human", can_mint: true }, { jti: "tok_x", now });
    const asked = async (token: string | undefined) => (await served.ask("/v1/sessions", { token })).json.error?.reason;
    expect(await asked(undefined)).toBe("Unauthorized");
    expect(await asked(signToken(claims, new Uint8Array(32)))).toBe("Unauthorized");
    expect(await asked(signToken({ ...claims, exp: Math.floor(now) - 1 }, key))).toBe("TokenExpired");
    expect(await asked(signToken({ ...claims, nbf: Math.floor(now) + 600 }, key))).toBe("Unauthorized");
    expect(await asked(signToken({ ...claims, ver: 2 as 1 }, key))).toBe("Unauthorized");
    expect(await asked(signToken(claims, key))).toBeUndefined();
  });

  verifies(["C7"], "is limited in number, and right ones still pass", async () => {
    const statuses = new Set<number>();
    for (let times = 0; times < 30; times++) {
      statuses.add((await served.ask("/v1/sessions", { token: "guess", over: "port" })).status);
    }
    expect([...statuses]).toEqual([401, 429]);
    const limited = await served.ask("/v1/sessions", { token: "guess", over: "port" });
    expect(Number(limited.headers["retry-after"])).toBeGreaterThan(0);
    expect((await served.ask("/v1/sessions", { over: "port" })).status).toBe(200);
  });

  verifies(["C7"], "is logged by its reason and its path, without its text and a bounded number of times", async () => {
    const lines: string[] = [];
    const log = (component: string, message: string, fields?: object) =>
      void lines.push(`${component}: ${message} ${JSON.stringify(fields)}`);
    const own = await serve({ serve: { log } });
    try {
      const guess = "guess".repeat(8);
      await own.ask(`/v1/sessions?hidden=${guess}`, { token: guess, over: "port" });
      expect(lines).toEqual([
        expect.stringMatching(
          /^auth: a token was refused {"from":"127.0.0.1","method":"GET","path":"\/v1\/sessions","reason":"Unauthorized: /,
        ),
      ]);
      const { token, claims } = await own.served.tokens.make({ identity_class: "agent" });
      await own.ask(`/v1/auth/tokens/${claims.jti}`, { method: "DELETE" });
      const headers = { "x-oxbow-token": token };
      const socket = new WebSocket(`${own.url.replace("http", "ws")}/v1/ws`, { headers });
      await new Promise((resolve) => socket.once("error", resolve));
      await own.ask("/mcp", { token });
      expect(lines.slice(1)).toEqual([expect.stringContaining("/v1/ws"), expect.stringContaining("TokenRevoked")]);
      for (let times = 0; times < 40; times++) await own.ask("/v1/sessions", { token });
      expect(lines.filter((line) => line.includes('"from":"socket"'))).toHaveLength(20);
      for (const secret of [guess, token, own.token]) expect(lines.join("\n")).not.toContain(secret);
    } finally {
      await own.close();
    }
  });

  it("comes as X-Oxbow-Token, or as a bearer from programs, never from pages or in the address", async () => {
    const bearer = { authorization: `Bearer ${served.token}` };
    expect((await served.ask("/v1/sessions", { token: undefined, headers: bearer, over: "port" })).status).toBe(200);
    const page = { ...bearer, origin: served.url };
    expect((await served.ask("/v1/sessions", { token: undefined, headers: page, over: "port" })).status).toBe(401);
    expect((await served.ask(`/v1/sessions?token=${served.token}`, { token: undefined })).status).toBe(401);
  });
});

describe("asking for a token", () => {
  verifies(["C7"], "shows a code to the attached person, and needs it", async () => {
    const person = served.hosted.connectPerson();
    const notices: string[] = [];
    person.subscribe((event) => {
      if (event.kind === "Notice") notices.push(event.payload.message);
    });
    await person.send("AttachSession", {}, session);
    const path = `/v1/auth/token?session=${session}&identity=agent&commands=SendInput&expires=1h&name=helper`;
    // Without any token, on the socket alone.
    const asked = await served.ask(path, { token: undefined });
    expect(asked).toMatchObject({ status: 202, json: { channel: "client" } });
    const code = /Code: (\d{6})/.exec(notices[0] ?? "")?.[1] ?? "";
    expect(asked.text).not.toContain(code);
    const { request } = asked.json;
    const confirm = (given: string) =>
      served.ask("/v1/auth/token", { ...post({ request, code: given }), token: undefined });
    const wrong = await confirm(code === "111111" ? "222222" : "111111");
    expect(wrong).toMatchObject({ status: 403, json: { error: { message: expect.stringContaining("2 left") } } });
    const made = await confirm(code);
    expect(made).toMatchObject({ status: 201, json: { claims: { sessions: [session], commands: ["SendInput"] } } });
    expect((await served.ask("/v1/handshake", { token: made.json.token })).json.identity).toBe("agent");
    expect((await confirm(code)).status).toBe(404);
    const { tokens } = (await served.ask("/v1/auth/tokens")).json;
    expect(tokens.at(-1)).toMatchObject({ display_name: "helper", jti: made.json.claims.jti });
    await person.send("DetachSession", {}, session);
  });

  verifies(["C7"], "needs a token on a port, and is refused without a surface", async () => {
    const path = `/v1/auth/token?session=${session}`;
    expect((await served.ask(path, { token: undefined, over: "port" })).status).toBe(401);
    expect((await served.ask(path, { token: "wrong" })).status).toBe(401);
    const bad = await served.ask(`${path}&identity=root`);
    expect(bad).toMatchObject({ status: 400, json: { error: { reason: "InvalidInput" } } });
    const minter = await agentToken({ can_mint: true });
    const human = await served.ask(`${path}&identity=human`, { token: minter });
    expect(human).toMatchObject({
      status: 403,
      json: { error: { message: expect.stringContaining("An agent cannot") } },
    });
    expect((await served.ask("/v1/auth/token", { token: minter })).status).toBe(403);
  });
});

describe("an address", () => {
  verifies(["C7"], "that is not the server's is refused, and so are foreign pages; CORS is closed", async () => {
    const port = new URL(served.url).port;
    const status = async (headers: Record<string, string>) => {
      const answer = await served.ask("/v1/sessions", { headers, over: "port" });
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
      return answer.status;
    };
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1:1",
      `127.0.0.1.evil.example:${port}`,
      `user@127.0.0.1:${port}`,
    ]) {
      expect([host, await status({ host })]).toEqual([host, 403]);
    }
    expect(await status({ host: `localhost:${port}` })).toBe(200);
    for (const origin of [
      "http://evil.example",
      "null",
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port}.evil.example`,
    ]) {
      expect([origin, await status({ origin })]).toEqual([origin, 403]);
      const socket = new WebSocket(`${served.url.replace("http", "ws")}/v1/ws`, {
        headers: { origin, "x-oxbow-token": served.token },
      });
      const problem = await new Promise((resolve) => socket.once("error", ({ message }) => resolve(message)));
      expect(problem).toContain("403");
    }
    expect(await status({ origin: `http://localhost:${port}` })).toBe(200);
  });

  verifies(["C7"], "beyond this machine needs TLS, a token file and a token for sessions", async () => {
    const refused = (options: object) =>
      serve({ serve: { socket: false, listen: ["0.0.0.0:0"], ...options } }).then(
        (started) => started.close().then(() => "started"),
        (error: Error) => error.message,
      );
    expect(await refused({})).toBe(
      "Refused to listen on 0.0.0.0: other machines can reach it. Add --tls-cert FILE and --tls-key FILE, and --auth-token-file FILE, or listen on 127.0.0.1.",
    );
    const file = join(await temporaryFolder(), "token.json");
    const claims = makeClaims({ identity_class: "agent" }, { jti: "tok_f", now: Date.now() / 1000 });
    await writeFile(file, JSON.stringify({ token: "t".repeat(40), ...claims }));
    await chmod(file, 0o400);
    expect(await refused({ authTokenFile: file })).toContain("Add --tls-cert FILE and --tls-key FILE, or");
    await chmod(file, 0o600);
    expect(await refused({ authTokenFile: file })).toContain("A token file must have mode 0400");
  });
});

describe("an allowed page", () => {
  it("gets CORS headers and its preflight, other pages do not", async () => {
    const page = "http://localhost:5173";
    const own = await serve({ serve: { origins: [page] } });
    try {
      const ask = (origin: string, method: string) =>
        own.ask("/v1/sessions", { over: "port", method, headers: { origin } });
      const preflight = await ask(page, "OPTIONS");
      expect(preflight.status).toBe(204);
      expect(preflight.headers["access-control-allow-headers"]).toContain("x-oxbow-token");
      expect((await ask(page, "GET")).headers).toMatchObject({ "access-control-allow-origin": page, vary: "origin" });
      expect((await ask("http://localhost:5174", "OPTIONS")).status).toBe(403);
      // The owner's token is replaced at once when it is revoked.
      const [owner] = (await own.ask("/v1/auth/tokens")).json.tokens;
      await own.ask(`/v1/auth/tokens/${owner.jti}`, { method: "DELETE" });
      expect((await own.ask("/v1/sessions")).json.error.reason).toBe("TokenRevoked");
      const token = (await own.served.tokens.keepOwnerToken()).trim();
      expect((await own.ask("/v1/sessions", { token })).status).toBe(200);
    } finally {
      await own.close();
    }
  });
});

describe("a stream", () => {
  verifies(["C5", "C7"], "beats, announces the end of its token and ends with it", async () => {
    const clock = new ManualClock(Date.now());
    const own = await serve({ clock });
    try {
      const id = await own.newSession();
      const { token } = await own.served.tokens.make({ identity_class: "agent", sessions: [id], lifetimeSeconds: 900 });
      const reader = await StreamReader.open(own, `/v1/sessions/${id}/events`, { "x-oxbow-token": token });
      const headers = { "x-oxbow-token": token, "last-event-id": "0" };
      const resumed = await StreamReader.open(own, `/v1/sessions/${id}/events`, headers);
      clock.advance(30_000);
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(10 * 60_000);
      await reader.until("TokenExpiring");
      expect(reader.comments[0]).toBe(": heartbeat");
      expect(reader.frames[0]?.id).toBe("");
      await resumed.until("TokenExpiring");
      // A reader that connects again begins where it was.
      expect(resumed.frames[0]?.id).toBe("0");
      clock.advance(5 * 60_000);
      await reader.ended;
      expect((await own.ask("/v1/sessions", { token })).json.error.reason).toBe("TokenExpired");
    } finally {
      await own.close();
    }
  });
});
