/** Shows what the holder of a limited token reaches, over HTTP, WebSocket and MCP: its session, with the rights of that session. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { WebSocket } from "ws";
import { connect } from "../../src/clients/sdk-node/index.js";
import { COMMAND_REACH, QUERY_REACH } from "../../src/control/scope.js";
import { ROUTES } from "../../src/control/transports/http/routes/index.js";
import type { EngineClient } from "../../src/protocol/client.js";
import { text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import type { QueryKind } from "../../src/protocol/queries.js";
import { SESSION_SPECS } from "../../src/runtime/commands/catalogue.js";
import { mcpMountOf } from "../../src/runtime/mcp-mount.js";
import { type ServedEngine, serveEngine } from "../../src/runtime/serve.js";
import { Testbed } from "../../src/security/trust/test-support/testbed.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { slash } from "../support/slash-turn.js";
import { eventually } from "../support/waiting.js";
import { verifies } from "../verifies.js";

let bed: Testbed;
let mock: MockModel;
let hosted: HostedEngine;
let served: ServedEngine;
let url: string;
let session: SessionId;
let other: SessionId;
const open: { close(): unknown }[] = [];
const secret = ["token", "of", "the", "owner"].join("-");
const made = () => join(bed.outside, "made");

beforeAll(async () => {
  bed = new Testbed();
  mock = await startMockModel({ script: "reply\n  text: Done.\nloop\n" });
  bed.put(join(bed.outside, "secret.txt"), secret);
  // All of it is approved, so that only the rights of the token stand in the way.
  bed.put(
    join(bed.config, "aliases.toml"),
    `[aliases]\nrunit = "/run touch ${made()}"\nagain = "/runit"\nsecretly = "/read ${bed.outside}/secret.txt"\n`,
  );
  bed.put(".oxbow/commands/fix.md", `Look: !\`touch ${made()}\` and !\`$1\` @${bed.outside}/secret.txt\n`);
  bed.program(join(bed.config, "commands/own"), `#!/bin/sh\n[ "$1" = --describe ] && echo own || touch ${made()}\n`);
  await bed.approveAll();
  const flags = ["--permission-mode", "ask"];
  hosted = await hostEngine(bed.base, mock, { home: join(bed.base, "home"), flags, content: { folder: bed.folder } });
  served = await serveEngine(hosted.engine, {
    roots: { state: join(bed.base, "home/state"), config: bed.config },
    ...{ variables: {}, socket: false, listen: ["127.0.0.1:0"] },
    mounts: [mcpMountOf(hosted.engine, { variables: {}, log: () => {} })],
  });
  url = served.addresses[0] ?? "";
  const owner = hosted.connectPerson();
  session = await newSession(owner);
  other = await newSession(hosted.connectPerson());
});
afterAll(async () => {
  for (const each of open.splice(0)) await each.close();
  await served.close();
  await hosted.engine.close();
  await mock.close();
  bed.remove();
});
beforeEach(() => {
  expect(existsSync(made())).toBe(false);
});

async function newSession(client: EngineClient): Promise<SessionId> {
  const reply = await client.send("CreateSession", {});
  if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
  return reply.session;
}

type Wanted = Parameters<ServedEngine["tokens"]["make"]>[0];

async function holder(wanted: Wanted, over: "http" | "ws") {
  const { token, claims } = await served.tokens.make(wanted);
  const place = over === "http" ? url : url.replace("http", "ws");
  class Authorized extends WebSocket {
    constructor(address: string, protocols?: string | string[]) {
      super(address, protocols, { headers: { "x-oxbow-token": token } });
    }
  }
  const connection = await connect({ url: place, token, WebSocket: Authorized as never, retry: () => false });
  open.push(connection);
  return { client: connection.client as EngineClient, token, claims };
}

const ask = async (path: string, token: string, init: RequestInit = {}) => {
  const headers = { "x-oxbow-token": token, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { headers, ...init });
  return { status: response.status, text: await response.text() };
};

const PERSON = (): Wanted => ({ identity_class: "human", sessions: [session] });

/** Reviewed one by one: each acts inside its session, through the permissions of that session, or shows what the session may show. */
const OF_THE_SESSION = [
  ..."agents:list audit:show audit:status background:list background:output background:stop btw cancel clear compact context:add context:clear context:show copy effort".split(
    " ",
  ),
  ..."exit help hooks init keys mode model models:list permissions:list permissions:revoke permissions:test".split(" "),
  ..."plan:approve plan:off plan:on plan:status ports:list queue record:status rename rewind safemode:status security sidebar skills:list statusline".split(
    " ",
  ),
  ..."skills:reload sources:list status summarize template:list template:use theme transcript undo why".split(" "),
];

describe("the commands that a limited person may use", () => {
  verifies(["C7", "U6"], "are a reviewed list: what is not on it reaches beyond the session", () => {
    const inside = SESSION_SPECS.filter(({ reaches }) => reaches === "session").map(({ name }) => name);
    expect([...inside].sort()).toEqual([...OF_THE_SESSION].sort());
  });

  for (const over of ["http", "ws"] as const) {
    verifies(["C7", "P4"], `are the only ones over ${over}, under every name`, async () => {
      const { client } = await holder(PERSON(), over);
      const beyond = SESSION_SPECS.filter(({ reaches }) => reaches !== "session");
      expect(beyond.length).toBeGreaterThan(60);
      for (const { name, aliases = [] } of beyond) {
        for (const each of [name, ...aliases, name.replaceAll(":", " ")]) {
          const reply = await slash(client, session, `/${each} touch ${made()}`);
          const message = reply.ok ? JSON.stringify(reply.value) : reply.failure.message;
          expect([each, reply.ok, message]).toEqual([
            each,
            false,
            expect.stringMatching(/token without limits|works only|There is no/),
          ]);
        }
      }
    });

    verifies(["C7", "P4"], `run no program and read no file beyond the session over ${over}`, async () => {
      const { client, token } = await holder(PERSON(), over);
      const lines = [
        ...[`/run touch ${made()}`, `/shell touch ${made()}`, `/runit`, `/again`, `/secretly`, "/own", "/commands:own"],
        ...[`/read ${bed.outside}/secret.txt`, `/files ${bed.outside}`, `/search token ${bed.outside}`, "/git log"],
        ...[`/context:load-dir ${bed.outside}`, `/export --output ${made()}`, `/write ${made()}`, "/apply --yes"],
        ...[
          "/session:branch",
          "/mcp:approve x",
          "/mode allow",
          "/permissions set . rwx",
          "/approve",
          "/undo yes guarded",
        ],
        ...[
          "/template:use ../../outside/secret.txt",
          "/skills ../../outside",
          `/model ${bed.outside}`,
          "/Run id",
          "/RUN id",
        ],
        ...["/run\ttouch x", "/run\u00a0x", "/ run id", "/slash:run id", "/!touch x"],
      ];
      const said: string[] = [];
      for (const line of lines) {
        const reply = await slash(client, session, line);
        said.push(JSON.stringify(reply));
      }
      for (const namespace of ["shell", "SLASH", "slash ", "tokens", "plugin", "__proto__", ""]) {
        const reply = await client.send("CustomCommand", { namespace, verb: "run", payload: { args: "id" } }, session);
        expect([namespace, reply.ok]).toEqual([namespace, false]);
      }
      expect(existsSync(made())).toBe(false);
      expect(said.join("\n")).not.toContain(secret);
      expect(said.join("\n")).not.toContain(token);
      expect(said.join("\n")).not.toContain(served.ownerToken);
      const status = await client.query("GetStatus", {}, session);
      expect(status).toMatchObject({ ok: true, answer: { place: { mode: "ask" } } });
    });
  }

  verifies(
    ["C7", "P1"],
    "ask the owner about commands in a prompt file, whose answer this token cannot give",
    async () => {
      const { client } = await holder(PERSON(), "ws");
      const questions: Envelope[] = [];
      client.subscribe((event) => {
        if (event.kind === "PermissionRequested") questions.push(event);
      });
      await client.send("AttachSession", {}, session);
      const running = slash(client, session, `/fix "touch ${made()}"`);
      for (let asked = 0; asked < 3; asked++) {
        const answered = await Promise.race([
          eventually(() => expect(questions.length).toBeGreaterThan(asked)).then(() => "asked"),
          running.then(() => "done"),
        ]);
        if (answered === "done") break;
        const question = questions[asked];
        if (question?.kind !== "PermissionRequested") throw new Error("no question");
        const { call } = question.payload;
        const yes = await client.send("AnswerPermission", { call, decision: "allow_once" }, session);
        expect(yes).toMatchObject({ ok: false, failure: { reason: "Forbidden" } });
        expect(await client.send("AnswerPermission", { call, decision: "deny" }, session)).toMatchObject({ ok: true });
      }
      await running;
      expect(questions.length).toBeGreaterThan(0);
      await eventually(async () => {
        const status = await client.query("GetStatus", {}, session);
        expect(status).toMatchObject({ ok: true, answer: { busy: false } });
      });
      expect(existsSync(made())).toBe(false);
      expect(JSON.stringify(mock.requests)).not.toContain(secret);
    },
  );

  verifies(["C7"], "open no other session, by any field, and follow none", async () => {
    for (const over of ["http", "ws"] as const) {
      const { client } = await holder(PERSON(), over);
      const tries = [
        ...[{}, { cwd: bed.outside }, { resume: other }, { after: session }, { resume: session, after: other }],
        ...[{ resume: session, cwd: bed.outside }, { resume: session, profile: "default" }, { carry: "x" }],
        ...[
          { resume: session, mcp_servers: [{ name: "x", command: "true", args: [] }] },
          { resume: session, until: 1, after: session },
        ],
      ];
      for (const payload of tries) {
        const reply = await client.send("CreateSession", payload as never);
        expect([payload, reply.ok]).toEqual([payload, false]);
      }
      for (const kind of ["AttachSession", "EndSession", "CancelTurn", "EnterPlanMode"] as const)
        expect([kind, (await client.send(kind, {}, other)).ok]).toEqual([kind, false]);
      const said = await client.send("SendInput", { content: [text("hi")] }, other);
      expect(said.ok).toBe(false);
      expect(await client.send("EnterPlanMode", {}, session)).toMatchObject({ ok: true });
      for (const mode of [
        await client.send("SetMode", { mode: "allow" }, session),
        await client.send("ExitPlanMode", { approve: true, mode: "allow" }, session),
        await client.send("ExitPlanMode", { approve: false, mode: "allow" }, session),
      ])
        expect(mode).toMatchObject({ ok: false, failure: { reason: "Forbidden" } });
      expect(await client.send("ExitPlanMode", { approve: true, mode: "ask" }, session)).toMatchObject({ ok: true });
      const approve = await client.send("ApproveContent", { decisions: [] }, session);
      expect(approve).toMatchObject({ ok: false, failure: { reason: "Forbidden" } });
    }
  });

  verifies(["C7"], "are all that the protocol offers: each command and query declares its reach", async () => {
    const { client } = await holder(PERSON(), "http");
    const requests: Partial<Record<QueryKind, object>> = {
      GetSkill: { name: "x" },
      FindFiles: { query: "a" },
      ListEvents: { before: 100 },
    };
    for (const kind of Object.keys(QUERY_REACH) as QueryKind[]) {
      const about = await client.query(kind, (requests[kind] ?? {}) as never, other);
      expect([kind, about.ok]).toEqual([kind, false]);
      const free = await client.query(kind, (requests[kind] ?? {}) as never);
      const shown = JSON.stringify(free);
      expect([kind, shown.includes(other), shown.includes(secret)]).toEqual([kind, false, false]);
    }
    expect(Object.values(COMMAND_REACH).every((reach) => ["session", "payload", "user"].includes(reach))).toBe(true);
    const files = await client.query("FindFiles", { query: "../../outside/secret" }, session);
    expect(JSON.stringify(files)).not.toContain("secret.txt");
  });
});

describe("the routes of the service", () => {
  verifies(["C7"], "show a limited person nothing of other sessions, and do nothing to them", async () => {
    const { token } = await holder(PERSON(), "http");
    expect(ROUTES.length).toBeGreaterThan(20);
    for (const { method, path } of ROUTES) {
      const place = path.replace("{id}", other).replace("{jti}", "tok_none").replace("{name}", "x");
      const body = method === "POST" ? { body: "{}" } : {};
      for (const address of path.includes("{id}") ? [place] : [place, `${place}?session=${other}`]) {
        const { status, text: said } = await ask(address, token, { method, ...body });
        const isRefused = status >= 400;
        if (path.includes("{id}")) expect([method, address, isRefused]).toEqual([method, address, true]);
        for (const word of [served.ownerToken, secret])
          expect([address, said.includes(word)]).toEqual([address, false]);
        // A refusal may repeat what the client named.
        if (!isRefused) expect([address, said.includes(other)]).toEqual([address, false]);
      }
    }
    expect(JSON.parse((await ask(`/v1/settings?session=${session}`, token)).text)).toEqual({ settings: [] });
    expect((await hosted.connectPerson().query("GetStatus", {}, other)).ok).toBe(true);
    expect((await hosted.connectPerson().query("ListSettings", {}, session)).ok).toBe(true);
  });
});

describe("an input with the name of a file outside", () => {
  verifies(["C7", "P1"], "gives the model the words alone", async () => {
    const { client } = await holder(PERSON(), "ws");
    const ended = new Promise<void>((resolve) => {
      client.subscribe((event) => event.kind === "TurnEnded" && resolve());
    });
    await client.send("AttachSession", {}, session);
    const names = `@${bed.outside}/secret.txt @file:${bed.outside}/secret.txt @../outside/secret.txt !cat ${bed.outside}/secret.txt`;
    expect(await client.send("SendInput", { content: [text(names)] }, session)).toMatchObject({ ok: true });
    await ended;
    expect(JSON.stringify(mock.requests)).not.toContain(secret);
  });
});

describe("codes and new tokens", () => {
  verifies(["C7", "P4"], "reach the owner alone, and a code is worth nothing to another asker", async () => {
    const limited = await holder(PERSON(), "ws");
    const seen: Envelope[] = [];
    limited.client.subscribe((event) => seen.push(event));
    await limited.client.send("AttachSession", {}, session);
    const owner = hosted.connectPerson();
    const notices: string[] = [];
    owner.subscribe((event) => event.kind === "Notice" && notices.push(event.payload.message));
    await owner.send("AttachSession", {}, session);
    const minter = await served.tokens.make({ identity_class: "human", sessions: [session], can_mint: true });
    const asked = await ask(`/v1/auth/token?session=${session}&identity=human&expires=1h`, minter.token);
    expect(asked.status).toBe(202);
    const code = /Code: (\d{6})/.exec(notices.join("\n"))?.[1] ?? "";
    expect(code).toMatch(/^\d{6}$/);
    expect(JSON.stringify(seen)).not.toContain(code);
    expect(seen.filter(({ kind }) => kind === "Notice")).toEqual([]);
    const body = JSON.stringify({ request: JSON.parse(asked.text).request, code });
    const stolen = await ask("/v1/auth/token", limited.token, { method: "POST", body });
    expect(stolen.status).not.toBe(201);
    const refused = await limited.client.send(
      "CustomCommand",
      { namespace: "tokens", verb: "refuse", payload: { request: JSON.parse(asked.text).request } },
      session,
    );
    expect(refused).toMatchObject({ ok: false, failure: { reason: "Forbidden" } });
    const own = await ask("/v1/auth/token", minter.token, { method: "POST", body });
    expect(own.status).toBe(201);
    expect(JSON.parse(own.text).claims).toMatchObject({
      sessions: [session],
      identity_class: "human",
      can_mint: false,
    });
  });

  verifies(["C7", "P4"], "never have more rights than their asker", async () => {
    const now = Math.floor(Date.now() / 1000);
    const askers: readonly Wanted[] = [
      { ...PERSON(), can_mint: true, lifetimeSeconds: 3600 },
      { ...PERSON(), can_mint: true, commands: ["SendInput"], lifetimeSeconds: 3600 },
      { identity_class: "human", folders: [bed.folder], can_mint: true, lifetimeSeconds: 3600 },
      { identity_class: "agent", can_mint: true, lifetimeSeconds: 3600 },
      { identity_class: "agent", sessions: [session], can_mint: true, lifetimeSeconds: 3600 },
      PERSON(),
    ];
    const more = [
      ...["", `?session=${other}`, `?session=${session}&session=${other}`, `?folder=${bed.outside}`, "?folder=/"],
      ...[
        `?session=${other}&commands=SendInput,CustomCommand`,
        `?folder=${bed.folder}/..`,
        `?session=${other}&can_mint=true`,
      ],
      ...[`?session=${other}&identity=human`, "?identity=human&can_mint=true", `?session=${other}&expires=365d`],
    ];
    for (const wanted of askers) {
      const { token, claims } = await served.tokens.make(wanted);
      expect(claims.exp).toBeGreaterThan(now);
      for (const query of more) {
        const { status } = await ask(`/v1/auth/token${query}`, token);
        expect([wanted, query, status]).toEqual([
          wanted,
          query,
          expect.toSatisfy((each) => each === 400 || each === 403),
        ]);
      }
      expect((await ask("/v1/auth/tokens", token)).status).toBe(403);
      expect((await ask("/v1/auth/tokens/tok_other", token, { method: "DELETE" })).status).toBe(403);
    }
    const narrow = await served.tokens.make({ ...PERSON(), can_mint: true, lifetimeSeconds: 3600 });
    expect((await ask(`/v1/auth/token?session=${session}&expires=2h`, narrow.token)).status).toBe(403);
    expect((await ask(`/v1/auth/token?session=${session}&identity=human&expires=10m`, narrow.token)).status).toBe(202);
  });
});

describe("an agent's token", () => {
  verifies(["C7", "C8"], "opens only the folders that it names, over HTTP, WebSocket and MCP", async () => {
    const inner = join(bed.folder, "inner");
    bed.put(join(inner, "a.txt"), "x");
    bed.link(bed.outside, "away");
    const wanted: Wanted = { identity_class: "agent", folders: [inner] };
    const places = [
      bed.outside,
      bed.folder,
      `${inner}/..`,
      `${inner}/../../outside`,
      join(bed.folder, "away"),
      "/",
      "../outside",
    ];
    for (const over of ["http", "ws"] as const) {
      const { client } = await holder(wanted, over);
      for (const cwd of places) {
        const reply = await client.send("CreateSession", { cwd });
        expect([over, cwd, reply.ok]).toEqual([over, cwd, false]);
      }
      const missing = { cwd: join(bed.outside, "missing") };
      expect(await client.send("CreateSession", missing)).toMatchObject({ failure: { reason: "Forbidden" } });
      expect((await client.send("CreateSession", {})).ok).toBe(false);
      expect((await client.send("CreateSession", { resume: session })).ok).toBe(false);
      expect((await client.send("AttachSession", {}, session)).ok).toBe(false);
      const own = await client.send("CreateSession", { cwd: inner });
      if (!own.ok || own.session === undefined) throw new Error(JSON.stringify(own));
      const next = await client.send("CreateSession", { after: own.session, cwd: bed.outside });
      expect(next.ok).toBe(false);
      const listed = await client.query("ListSessions", {});
      expect(JSON.stringify(listed)).not.toContain(other);
      const moved = await slash(client, own.session, `/run touch ${made()}`);
      expect(moved.ok).toBe(false);
    }
    const { token } = await served.tokens.make(wanted);
    const person = await served.tokens.make(PERSON());
    const call = async (bearer: string, name: string, args: object) => {
      const client = new Client({ name: "outer", version: "1" }, { versionNegotiation: { mode: "legacy" } });
      const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit }));
      const result = await client.callTool({ name, arguments: { ...args } });
      await client.close();
      return { isError: result.isError === true, text: JSON.stringify(result) };
    };
    for (const cwd of places)
      expect([cwd, await call(token, "create_session", { cwd })]).toMatchObject([cwd, { isError: true }]);
    expect(await call(token, "create_session", { cwd: inner })).toMatchObject({ isError: false });
    for (const [name, args] of [
      ["create_session", {}],
      ["create_session", { resume: other }],
      ["attach_session", { session: other }],
      ["send_input", { session: other, text: "hi" }],
      ["wait_for_turn", { session: other, text: "hi" }],
    ] as const) {
      const result = await call(person.token, name, args);
      expect([name, result.isError]).toEqual([name, true]);
    }
    const sessions = await call(person.token, "list_sessions", {});
    expect(sessions.text).not.toContain(other);
  });

  verifies(["C7"], "without folders opens the folder of the engine alone", async () => {
    const { client } = await holder({ identity_class: "agent" }, "http");
    expect((await client.send("CreateSession", { cwd: bed.outside })).ok).toBe(false);
    expect((await client.send("CreateSession", { cwd: "/" })).ok).toBe(false);
    expect((await client.send("CreateSession", {})).ok).toBe(true);
    expect(readFileSync(join(bed.outside, "secret.txt"), "utf8")).toBe(secret);
  });
});

describe("MCP sessions of one token", () => {
  const send = (token: string, method: string, params: object, id?: string) =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        ...{ "x-oxbow-token": token, "content-type": "application/json" },
        accept: "application/json, text/event-stream",
        ...(id !== undefined && { "mcp-session-id": id, "mcp-protocol-version": "2025-06-18" }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  const begin = async (token: string): Promise<string> => {
    const clientInfo = { name: "x", version: "1" };
    const response = await send(token, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    await response.text();
    return response.headers.get("mcp-session-id") ?? "";
  };
  const status = async (token: string, id: string) => {
    const response = await send(token, "tools/list", {}, id);
    await response.text();
    return response.status;
  };

  verifies(["C7"], "live side by side; beyond sixty-four the oldest ends, and never one of another token", async () => {
    const wanted = { identity_class: "agent", sessions: [session] } as const;
    const [mine, other] = [await served.tokens.make(wanted), await served.tokens.make(wanted)];
    const [first, second, theirs] = [await begin(mine.token), await begin(mine.token), await begin(other.token)];
    expect([await status(mine.token, first), await status(mine.token, second)]).toEqual([200, 200]);
    expect(await status(other.token, first)).toBe(404);
    for (let more = 2; more < 65; more++) await begin(mine.token);
    expect([await status(mine.token, first), await status(mine.token, second)]).toEqual([404, 200]);
    expect(await status(other.token, theirs)).toBe(200);
  });
});
