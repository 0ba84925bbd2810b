/** Every road that an agent, or a client with a wrong token, could try: routes, frames and the commands of people. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { WebSocket } from "ws";
import { systemClock } from "../../src/base/clock.js";
import { makeClaims } from "../../src/control/auth/claims.js";
import { openSigningKey } from "../../src/control/auth/signing-key.js";
import { signToken } from "../../src/control/auth/token-text.js";
import { ROUTES } from "../../src/control/transports/http/routes/index.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { reply, script } from "../../src/testkit/index.js";
import { type Served, serve } from "../support/served-engine.js";
import { verifies } from "../verifies.js";

let served: Served;
let session: SessionId;
beforeAll(async () => {
  served = await serve({ script: script([reply().text("Hello.").times(Number.POSITIVE_INFINITY)]) });
  session = await served.newSession();
});
afterAll(() => served.close());

describe("a token that is not valid any more, or none", () => {
  verifies(["C7"], "opens no route and no socket, also not in the address", async () => {
    const key = await openSigningKey(join(served.home, "state"), systemClock);
    const now = Date.now() / 1000;
    const claims = makeClaims({ identity_class: "human", can_mint: true }, { jti: "tok_x", now });
    const { token: revoked, claims: made } = await served.served.tokens.make({ identity_class: "human" });
    await served.served.tokens.revoke(made.jti);
    const expired = signToken({ ...claims, exp: Math.floor(now) - 1 }, key);
    for (const { method, path } of ROUTES.filter((route) => route.path !== "/v1/auth/token")) {
      const place = path.replace("{id}", session).replace("{jti}", "tok_none");
      for (const token of [undefined, revoked, expired]) {
        const { status, text } = await served.ask(`${place}?token=${served.token}`, { method, token });
        expect([method, path, status]).toEqual([method, path, 401]);
        expect(text).not.toContain(served.home);
      }
    }
    const refusalOf = (headers: Record<string, string>, query = "") =>
      new Promise<number | undefined>((resolve) => {
        const socket = new WebSocket(`${served.url.replace("http", "ws")}/v1/ws?session=${session}${query}`, {
          headers,
        });
        socket.on("unexpected-response", (_request, response) => {
          resolve(response.statusCode);
          response.resume();
        });
        socket.on("open", () => resolve(101));
        socket.on("error", () => {});
      });
    const good = { "x-oxbow-token": served.token };
    expect(await refusalOf({}, `&token=${served.token}`)).toBe(401);
    expect(await refusalOf({ "x-oxbow-token": expired })).toBe(401);
    expect(await refusalOf({ ...good, origin: "http://evil.example" })).toBe(403);
    expect(await refusalOf({ ...good, host: "evil.example" })).toBe(403);
    expect(await refusalOf({ authorization: `Bearer ${served.token}`, origin: served.url })).toBe(401);
  });
});

/** They change permissions, content, files or what others have stored. */
const CHANGING =
  /^(record:(start|stop)|ollama:(start|stop|pull|use)|permissions|mode$|plan|ack|trust|shell|undo|session:(delete|export|branch|pin)|creds|memory|kb|rag|route|hooks:|plugin|profiles:use|safemode|token|mcp:(add|remove|approve)|sources:(allow|revoke))/;

describe("an agent", () => {
  verifies(["P4", "C7"], "does nothing that is for people, by any command, route or frame", async () => {
    const { token } = await served.served.tokens.make({ identity_class: "agent" });
    await served.ask("/v1/handshake", { token });
    const call = `call_${"0".repeat(26)}`;
    const commands = [
      ["AnswerPermission", { call, decision: "allow_once" }],
      ["ApproveContent", { decisions: [{ id: "x", decision: "approve" }] }],
      ...["ask", "auto", "allow", "deny"].map((mode) => ["SetMode", { mode }] as const),
      ["ExitPlanMode", { approve: true }],
      ["CreateSession", { profile: "default" }],
      ["CreateSession", { resume: session, profile: "default" }],
      ["CreateSession", { mcp_servers: [{ name: "x", command: "true", args: [] }] }],
      ["CreateSession", { resume: session, orphans: { verdict: "succeeded" } }],
    ] as const;
    const { json } = await served.ask(`/v1/slash-commands?session=${session}`);
    const changing = (json.commands as readonly { readonly name: string }[]).filter(({ name }) => CHANGING.test(name));
    expect(changing.length).toBeGreaterThan(20);
    const slash = changing.map(
      ({ name }) => ["CustomCommand", { namespace: "slash", verb: name, payload: { args: "" } }] as const,
    );
    const mode = async () => (await served.ask(`/v1/sessions/${session}`)).json.session?.place?.mode;
    const before = await mode();
    for (const [kind, payload] of [...commands, ...slash]) {
      const body = { kind, session, payload };
      const { json: answer } = await served.ask("/v1/commands", { method: "POST", body, token });
      expect([kind, payload, answer.ok]).toEqual([kind, payload, false]);
      if (kind === "CustomCommand") expect(answer.failure.message).toMatch(/is for people|works only/);
    }
    expect(await mode()).toBe(before);
    expect((await served.ask("/v1/auth/token?identity=human", { token })).status).toBe(403);
    expect((await served.ask("/v1/auth/token?identity=agent&can_mint=true", { token })).status).toBe(403);
  });
});

describe("a token for one session", () => {
  verifies(["C7"], "learns and changes nothing of others through slash commands", async () => {
    const other = await served.newSession();
    const { token } = await served.served.tokens.make({ identity_class: "agent", sessions: [session] });
    const person = await served.served.tokens.make({ identity_class: "human", sessions: [session] });
    // A person may use the commands for people, but not for other sessions.
    const messages = new Map([
      [token, /is for people, not for agents|needs a token without limits/],
      [person.token, /a token without limits/],
    ]);
    for (const [each, message] of messages) {
      await served.ask("/v1/handshake", { token: each });
      for (const line of [
        "session:list --all",
        `session:show ${other}`,
        "session list",
        "sessions",
        "clients",
        "health",
        "recall x",
        `undo ${other} yes`,
        `permissions:replay ${other}`,
        "permissions:set . none",
        "safemode:on",
      ]) {
        const [verb = "", ...args] = line.split(" ");
        const payload = { namespace: "slash", verb, payload: { args: args.join(" ") } };
        const body = { kind: "CustomCommand", session, payload };
        const { json, text } = await served.ask("/v1/commands", { method: "POST", body, token: each });
        expect([line, json.ok]).toEqual([line, false]);
        expect(text).toMatch(message);
        expect(text).not.toContain(served.home);
      }
    }
    const mine = { kind: "CreateSession", payload: { mcp_servers: [{ name: "mine", command: "true", args: [] }] } };
    const made = (await served.ask("/v1/commands", { method: "POST", body: mine })).json;
    await served.ask(`/v1/slash-commands?session=${made.session}`);
    const servers = async (from: string) => {
      const body = { kind: "ListMcpServers", request: {} };
      return (await served.ask("/v1/queries", { method: "POST", body, token: from })).json.answer.servers;
    };
    expect(await servers(served.token)).toMatchObject([{ name: "mine" }]);
    for (const each of messages.keys()) expect(await servers(each)).toEqual([]);
  });
});
