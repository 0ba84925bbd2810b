/** Another agent drives the real engine over MCP. The agent is the client of the official SDK. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { fetchExchange } from "../../src/clients/sdk/exchange.js";
import { HttpClient } from "../../src/clients/sdk/http-client.js";
import { serveMcpStdio } from "../../src/control/transports/mcp-server/stdio.js";
import { TOOLS } from "../../src/control/transports/mcp-server/tool-schemas.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import { PROTOCOL_VERSION } from "../../src/protocol/handshake.js";
import type { CallId, SessionId } from "../../src/protocol/ids.js";
import type { JsonObject } from "../../src/protocol/json.js";
import { mcpMountOf } from "../../src/runtime/mcp-mount.js";
import { serveEngine } from "../../src/runtime/serve.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine, turnOf } from "../support/hosted-engine.js";
import { LineTransport } from "../support/line-transport.js";
import { temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
type Revision = (typeof REVISIONS)[number];

async function open(replies: Parameters<typeof script>[0], more: { readonly home?: string } = {}) {
  const mock: MockModel = await startMockModel({ script: script(replies) });
  const hosted = await hostEngine(await temporaryFolder(), mock, { flags: ["--permission-mode", "ask"], ...more });
  closing.push(
    () => mock.close(),
    () => hosted.engine.close(),
  );
  return { hosted, mock };
}

function newClient(revision: Revision, version?: string): Client {
  const mode = revision === "2026-07-28" ? { pin: revision } : ("legacy" as const);
  const capabilities = version === undefined ? {} : { experimental: { oxbow: { protocol_version: version } } };
  return new Client({ name: "outer", version: "1" }, { versionNegotiation: { mode }, capabilities });
}

interface AgentOptions {
  readonly revision?: Revision;
  readonly refusal?: () => Promise<string | undefined>;
  /** The version of Oxbow's protocol that it says it speaks. */
  readonly protocolVersion?: string;
}

/** The outer agent, over standard input and output. */
async function connectAgent(
  { engine }: HostedEngine,
  { revision = "2025-11-25", refusal, protocolVersion }: AgentOptions = {},
) {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const started: [string, string][] = [];
  const own = engine.host.connect({ id: engine.newClientId(), identity: "agent", canAnswer: false, transport: "mcp" });
  const greeting = own.handshake();
  const ended = serveMcpStdio({
    ...{ client: own, clock: systemClock, version: "0", input: there, output: back, log: () => {} },
    onSession: (session, agent) => started.push([agent, session]),
    ...(greeting.ok && { handshake: greeting.handshake }),
    ...(refusal && { refusal }),
  });
  const client = newClient(revision, protocolVersion);
  const transport = new LineTransport(back, there);
  await client.connect(transport);
  closing.push(async () => {
    await client.close();
    await ended;
  });
  return { client, own, started, transport, call: callerOf(client) };
}

function callerOf(client: Client) {
  return async (name: string, args: JsonObject = {}) => {
    const result = await client.callTool({ name, arguments: { ...args } });
    const {
      structuredContent,
      isError = false,
      content,
    } = result as {
      structuredContent?: JsonObject;
      isError?: boolean;
      content: readonly { text?: string }[];
    };
    return { value: structuredContent ?? {}, isError, text: content.map(({ text }) => text).join("\n") };
  };
}

const jsonOf = ({ contents }: { contents: readonly object[] }) =>
  JSON.parse((contents[0] as { text?: string } | undefined)?.text ?? "null");

describe.each(REVISIONS)("an outer agent at %s", (revision) => {
  verifies(["C8", "C4"], "runs the inner agent and gets its answer with the cost, turns and tools", async () => {
    const { hosted } = await open([
      reply().text("Looking.").tool("ls", {}),
      reply().tool("todo", { todos: [] }).tool("ls", {}),
      reply().text("Three files."),
    ]);
    const { client, call, started } = await connectAgent(hosted, { revision });
    expect(client.getInstructions?.() ?? "").toContain("cannot approve");
    const { value, isError, text } = await call("run_agent_with_shell_access", { prompt: "How many files?" });
    expect(isError).toBe(false);
    expect(text).toContain("Three files.");
    expect(value).toMatchObject({ state: "answered", text: "Three files.", turns: 3, tools_used: ["ls", "todo"] });
    expect(value.cost === null || typeof value.cost === "number").toBe(true);
    expect(value.banner).toContain("shell");
    const session = value.session as SessionId;
    expect(started).toEqual([["outer", session]]);
    const log = await client.readResource({ uri: `oxbow://session/${session}/events?since=2` });
    const { events, last_event: last } = jsonOf(log) as { events: Envelope[]; last_event: number };
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: last - 2 }, (_, index) => index + 3));
    expect(jsonOf(await client.readResource({ uri: `oxbow://session/${session}` }))).toMatchObject({
      id: session,
      live: true,
    });
    for (const uri of [
      "oxbow://sessions",
      "oxbow://profiles",
      "oxbow://providers",
      "oxbow://tools",
      "oxbow://skills",
    ]) {
      expect(Object.values(jsonOf(await client.readResource({ uri })) as object)[0]).toEqual(expect.any(Array));
    }
    expect(jsonOf(await client.readResource({ uri: "oxbow://runtime" }))).toMatchObject({ sessions: 1 });
    await expect(client.readResource({ uri: "oxbow://nonsense" })).rejects.toMatchObject({ code: -32602 });
  });

  verifies(
    ["C8", "C2"],
    "learns the versions, kinds and features when it connects, and is refused with another version",
    async () => {
      const { hosted } = await open([]);
      const { client } = await connectAgent(hosted, { revision });
      const { oxbow } = client.getServerCapabilities()?.experimental ?? {};
      expect(oxbow).toMatchObject({
        protocol_version: PROTOCOL_VERSION,
        resource_uri_scheme: "oxbow",
        identity: "agent",
      });
      expect(oxbow?.command_kinds).toContain("SendInput");
      const newer = await connectAgent(hosted, { revision, protocolVersion: "9.0.0" });
      const refused = await newer.call("list_sessions");
      expect(refused.value.error).toMatchObject({ reason: "HandshakeVersionMismatch" });
      await expect(newer.client.readResource({ uri: "oxbow://sessions" })).rejects.toThrow("9.0.0");
    },
  );

  verifies(["C8"], "gets a notification when a list changes, also by others", async () => {
    const { hosted } = await open([]);
    const { client, transport } = await connectAgent(hosted, { revision });
    const uris = ["oxbow://sessions", ...(revision === "2025-11-25" ? ["oxbow://runtime", "oxbow://tools"] : [])];
    const missing = new Set(uris);
    const changed = new Promise<void>((resolve) => {
      transport.look = (message) => {
        missing.delete((message as { params?: { uri?: string } }).params?.uri ?? "");
        if (missing.size === 0) resolve();
      };
    });
    if (revision === "2026-07-28") await client.listen({ resourceSubscriptions: uris });
    else for (const uri of uris) await client.subscribeResource({ uri });
    await hosted.connectPerson().send("CreateSession", {});
    await changed;
  });

  verifies(["C8"], "gets numbered progress while a call runs, if it wants some", async () => {
    const { hosted } = await open([reply().tool("ls", {}), reply().tool("todo", { todos: [] }), reply().text("Done.")]);
    const { client } = await connectAgent(hosted, { revision });
    const told: unknown[] = [];
    const call = { name: "run_agent_with_shell_access", arguments: { prompt: "go" } };
    await client.callTool(call, { onprogress: (progress) => void told.push(progress) });
    expect(told).toEqual([
      { progress: 1, message: "ls" },
      { progress: 2, message: "todo" },
    ]);
  });

  verifies(["C8"], "follows a session by subscription", async () => {
    const { hosted } = await open([reply().text("Hello.")]);
    const { client, call, transport } = await connectAgent(hosted, { revision });
    const { value } = await call("create_session");
    const uri = `oxbow://session/${String(value.session)}/events`;
    const kinds: string[] = [];
    let finish: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      finish = resolve;
    });
    transport.look = (message) => {
      const { params } = message as { params?: { uri?: string; contents?: Envelope } };
      if (params?.uri !== uri || params.contents === undefined) return;
      kinds.push(params.contents.kind);
      if (params.contents.kind === "TurnEnded") finish();
    };
    if (revision === "2026-07-28") await client.listen({ resourceSubscriptions: [uri] });
    else await client.subscribeResource({ uri });
    expect((await call("send_input", { session: value.session as string, text: "Hi" })).value.state).toBe("started");
    await ended;
    expect(kinds.at(0)).toBe("TurnStarted");
    expect(kinds).toContain("TextDelta");
    expect((await call("wait_for_turn", { session: value.session as string })).value.state).toBe("idle");
  });
});

describe("an agent", () => {
  verifies(["C8"], "can never approve its own calls; a person who attaches can", async () => {
    const { hosted } = await open([
      reply().tool("bash", { command: "touch by-person" }),
      reply().text("Done."),
      reply().tool("bash", { command: "touch by-agent" }),
      reply().text("Denied."),
    ]);
    const { call, own } = await connectAgent(hosted);
    const person = hosted.connectPerson();
    await person.send("CreateSession", {});
    const notices: string[] = [];
    person.subscribe((event) => {
      if (event.kind === "Notice") notices.push(event.payload.message);
    });
    const session = (await call("create_session")).value.session as SessionId;
    expect(notices).toEqual([expect.stringContaining(`(agent) opened the session ${session}`)]);
    await person.send("AttachSession", {}, session);
    const asked = new Promise<CallId>((resolve) => {
      person.subscribe((event) => {
        if (event.kind === "PermissionRequested") resolve(event.payload.call);
      });
    });
    const running = call("run_agent_with_shell_access", { prompt: "go", session });
    const question = await asked;
    // Every way that leads to a yes.
    const refused = await call("answer_permission", { session, call: question, decision: "allow_once" });
    expect(refused).toMatchObject({ isError: true, value: { error: { reason: "Forbidden" } } });
    expect(refused.text).toMatch(/person/);
    const answers = await Promise.all([
      own.send("AnswerPermission", { call: question, decision: "allow_once" }, session),
      own.send("AnswerPermission", { call: question, decision: "allow_tool" }, session),
      own.send("SetMode", { mode: "allow" }, session),
      own.send("SetMode", { mode: "auto" }, session),
      own.send("ApproveContent", { decisions: [] }, session),
      own.send("CreateSession", { profile: "anything" }),
      own.send("CustomCommand", { namespace: "slash", verb: "permissions:mode", payload: { args: "allow" } }, session),
      own.send("CustomCommand", { namespace: "slash", verb: "mode", payload: { args: "auto" } }, session),
    ]);
    expect(answers.map(({ ok }) => ok)).toEqual(answers.map(() => false));
    expect(existsSync(join(hosted.root, "by-person"))).toBe(false);
    await person.send("AnswerPermission", { call: question, decision: "allow_once" }, session);
    expect((await running).value).toMatchObject({ state: "answered", tools_used: ["bash"] });
    expect(existsSync(join(hosted.root, "by-person"))).toBe(true);
    await call("enter_plan_mode", { session });
    expect((await call("exit_plan_mode", { session, approve: true })).isError).toBe(true);
  });

  verifies(["C8", "P4"], "whose call waits is shown to people in other sessions, who can come and answer", async () => {
    const { hosted } = await open([reply().tool("bash", { command: "touch by-person" }), reply().text("Done.")]);
    const { call } = await connectAgent(hosted);
    const person = hosted.connectPerson();
    await person.send("CreateSession", {});
    const told = new Promise<string>((resolve) => {
      person.subscribe((event) => {
        if (event.kind === "Notice" && event.payload.message.startsWith("An agent waits"))
          resolve(event.payload.message);
      });
    });
    const session = (await call("create_session")).value.session as SessionId;
    const running = call("run_agent_with_shell_access", { prompt: "go", session });
    const notice = await told;
    expect(notice).toContain(`for your answer in the session ${session}: `);
    expect(notice).toMatch(/touch by-person.*'oxbow resume sess_\w+' shows the question\./);
    const asked = new Promise<CallId>((resolve) => {
      person.subscribe((event) => {
        if (event.kind === "PermissionRequested" && event.session === session) resolve(event.payload.call);
      });
    });
    await person.send("AttachSession", {}, session);
    await person.send("AnswerPermission", { call: await asked, decision: "allow_once" }, session);
    expect((await running).value).toMatchObject({ state: "answered", tools_used: ["bash"] });
    expect(existsSync(join(hosted.root, "by-person"))).toBe(true);
  });

  verifies(
    ["C8", "P4"],
    "that joins a session of a person asks, also where that person allows everything",
    async () => {
      const call = (name: string) => reply().tool("bash", { command: `touch ${name}` });
      const { hosted } = await open([call("by-person"), reply().text("1"), call("by-agent"), reply().text("2")]);
      const person = hosted.connectPerson();
      const created = await person.send("CreateSession", {});
      const session = (created.ok ? created.session : undefined) as SessionId;
      expect((await person.send("SetMode", { mode: "allow" }, session)).ok).toBe(true);
      const asked: string[] = [];
      person.subscribe((event) => {
        if (event.kind !== "PermissionRequested") return;
        asked.push(event.payload.summary);
        void person.send("AnswerPermission", { call: event.payload.call, decision: "deny" }, session);
      });
      await turnOf(person, session, "go");
      expect(existsSync(join(hosted.root, "by-person"))).toBe(true);
      const agent = await connectAgent(hosted);
      const { value } = await agent.call("run_agent_with_shell_access", { prompt: "go", session });
      expect(value.denied).toHaveLength(1);
      expect(asked).toEqual([expect.stringContaining("by-agent")]);
      expect(existsSync(join(hosted.root, "by-agent"))).toBe(false);
    },
  );

  verifies(["C8", "P4"], "cannot speak in a turn of a person: its input waits for a turn of its own", async () => {
    const { hosted } = await open([reply().hang()]);
    const person = hosted.connectPerson();
    const created = await person.send("CreateSession", {});
    const session = (created.ok ? created.session : undefined) as SessionId;
    await person.send("SendInput", { content: [{ type: "text", text: "go" }] }, session);
    const { own } = await connectAgent(hosted);
    const steering = { content: [{ type: "text", text: "do something else" }], steer: true } as const;
    expect(await own.send("SendInput", steering, session)).toMatchObject({ ok: true, value: { state: "queue" } });
    expect(await person.send("SendInput", steering, session)).toMatchObject({ ok: true, value: { state: "steer" } });
    await person.send("CancelTurn", {}, session);
  });

  verifies(["C8"], "gets a denial with its reason when no person answers in time", async () => {
    const home = await temporaryFolder();
    await mkdir(join(home, "config"));
    await writeFile(join(home, "config", "config.toml"), 'permission_timeout = "50ms"\n', { mode: 0o600 });
    const { hosted } = await open([reply().tool("bash", { command: "touch x" }), reply().text("Without it.")], {
      home,
    });
    const { call } = await connectAgent(hosted);
    const { value } = await call("run_agent_with_shell_access", { prompt: "go" });
    expect(value).toMatchObject({ state: "denied", text: "Without it." });
    expect(value.denied).toEqual([expect.objectContaining({ tool: "bash", reason: "PermissionTimeout" })]);
    expect(existsSync(join(hosted.root, "x"))).toBe(false);
  });

  verifies(["C8"], "whose program the user has not allowed lists tools and can use none", async () => {
    const { hosted, mock } = await open([reply().text("never")]);
    const { client, call } = await connectAgent(hosted, { refusal: async () => "the user has not allowed it." });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("create_session");
    for (const { name, inputSchema } of TOOLS) {
      const args = Object.fromEntries(
        (inputSchema.required ?? []).map((key) => [key, "sess_01M7H9XP4SNWKHEAENY968ND4S"]),
      );
      expect(await call(name, args), name).toMatchObject({
        isError: true,
        value: { error: { reason: "Unauthorized" } },
      });
    }
    await expect(client.readResource({ uri: "oxbow://sessions" })).rejects.toThrow("not allowed");
    await expect(client.subscribeResource({ uri: "oxbow://sessions" })).rejects.toThrow("not allowed");
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain("oxbow://sessions");
    expect((await client.listPrompts()).prompts).toEqual([]);
    await expect(client.getPrompt({ name: "anything" })).rejects.toThrow("not allowed");
    expect(mock.requests).toEqual([]);
  });

  verifies(["C8"], "ends, cancels and resumes sessions, changes models and uses skills as prompts", async () => {
    const { hosted } = await open([reply().hang(), reply().text("Second.")]);
    const { client, call } = await connectAgent(hosted);
    const session = (await call("create_session", { cwd: hosted.root })).value.session as string;
    expect((await call("run_agent_with_shell_access", { prompt: "a", session, wait: "none" })).value.state).toBe(
      "started",
    );
    expect((await call("wait_for_turn", { session, wait_seconds: 1 })).value).toMatchObject({ state: "running" });
    expect((await call("send_input", { session, text: "b" })).value.error).toMatchObject({ reason: "TurnInProgress" });
    await call("cancel_turn", { session });
    const ended = await call("wait_for_turn", { session });
    expect(["cancelled", "idle"]).toContain(ended.value.state);
    expect((await call("set_model", { session, model: "anthropic:other" })).value.model).toBe("anthropic:other");
    expect((await call("end_session", { session })).value.state).toBe("ended");
    expect((await call("create_session", { resume: session })).value.session).toBe(session);
    const { sessions } = (await call("list_sessions")).value as { sessions: readonly { id: string }[] };
    expect(sessions.map(({ id }) => id)).toContain(session);
    expect((await call("create_session", { cwd: "relative" })).isError).toBe(true);
    expect((await call("attach_session", { session: "sess_nonsense" })).value.error).toMatchObject({
      reason: "SessionNotFound",
    });
    expect((await call("oxbow.list_sessions")).isError).toBe(false);
    await expect(client.callTool({ name: "nonsense", arguments: {} })).rejects.toMatchObject({ code: -32602 });
    const { prompts } = await client.listPrompts();
    const [skill] = prompts;
    if (skill === undefined) throw new Error("there is no skill");
    const { messages } = await client.getPrompt({ name: skill.name, arguments: { input: "my input" } });
    expect(JSON.stringify(messages)).toContain("my input");
    await expect(client.getPrompt({ name: "nonsense" })).rejects.toMatchObject({ code: -32602 });
  });

  verifies(
    ["C8"],
    "gets the cost and tools of the whole turn from wait_for_turn, also of what was before it waited",
    async () => {
      const { hosted } = await open([
        reply().tool("ls", {}),
        reply().tool("bash", { command: "touch here" }),
        reply().text("Done."),
      ]);
      const { call } = await connectAgent(hosted);
      const session = (await call("create_session")).value.session as SessionId;
      const person = hosted.connectPerson();
      await person.send("AttachSession", {}, session);
      const asked = new Promise<CallId>((resolve) => {
        person.subscribe((event) => {
          if (event.kind === "PermissionRequested") resolve(event.payload.call);
        });
      });
      await call("send_input", { session, text: "Look" });
      const question = await asked;
      // Another agent, which saw nothing of the turn so far.
      const late = await connectAgent(hosted);
      const soFar = await late.call("wait_for_turn", { session, wait_seconds: 1 });
      expect(soFar.value).toMatchObject({ state: "running", turns: 2, tools_used: ["ls", "bash"] });
      expect(soFar.value.waiting_for_permission).toHaveLength(1);
      const waiting = late.call("wait_for_turn", { session });
      await person.send("AnswerPermission", { call: question, decision: "allow_once" }, session);
      const { value } = await waiting;
      expect(value).toMatchObject({ state: "answered", text: "Done.", turns: 3, tools_used: ["ls", "bash"] });
      const ended = (await person.query("ListEvents", { before: 10_000 }, session)) as {
        answer: { events: readonly Envelope[] };
      };
      const costs = ended.answer.events.flatMap((event) =>
        event.kind === "CostIncremented" ? [event.payload.cost?.usd] : [],
      );
      expect(costs).toHaveLength(3);
      const sum = costs.reduce<number>((total, usd) => total + (usd ?? 0), 0);
      expect(value.cost === null ? undefined : value.cost).toEqual(
        costs.includes(undefined) ? undefined : expect.closeTo(sum, 9),
      );
    },
  );

  verifies(["C8"], "sees tool names that every client accepts, with an honest one for the shell", () => {
    const names = TOOLS.map(({ name }) => name);
    expect(names).toContain("run_agent_with_shell_access");
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });
});

describe("over HTTP", () => {
  async function serve(hosted: HostedEngine) {
    const folder = await temporaryFolder();
    const mount = mcpMountOf(hosted.engine, { variables: {}, log: () => {} });
    const served = await serveEngine(hosted.engine, {
      roots: { state: join(folder, "state"), config: join(folder, "config") },
      ...{ variables: {}, socket: false, listen: ["127.0.0.1:0"], mounts: [mount] },
    });
    closing.push(() => served.close());
    return { url: new URL("/mcp", served.addresses[0]), token: served.ownerToken };
  }

  async function connectHttp(url: URL, token: string, revision: Revision) {
    const client = newClient(revision);
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    closing.push(() => client.close());
    return client;
  }

  for (const revision of REVISIONS) {
    verifies(["C8", "C4"], `serves ${revision}, and a person's token is still an agent's here`, async () => {
      const { hosted } = await open([reply().tool("bash", { command: "touch z" }), reply().text("ok")]);
      const { url, token } = await serve(hosted);
      const call = callerOf(await connectHttp(url, token, revision));
      const session = (await call("create_session")).value.session as SessionId;
      const person = hosted.connectPerson();
      await person.send("AttachSession", {}, session);
      const clients = await person.query("ListClients", {}, session);
      const outer = clients.ok ? clients.answer.clients.find(({ transport }) => transport === "mcp") : undefined;
      expect(outer?.identity).toBe("agent");
      person.subscribe((event) => {
        if (event.kind !== "PermissionRequested") return;
        void call("answer_permission", { session, call: event.payload.call, decision: "allow_once" }).then(
          ({ isError }) => {
            expect(isError).toBe(true);
            return person.send("AnswerPermission", { call: event.payload.call, decision: "deny" }, session);
          },
        );
      });
      const { value } = await call("run_agent_with_shell_access", { prompt: "go", session });
      expect(value.denied).toHaveLength(1);
      expect(existsSync(join(hosted.root, "z"))).toBe(false);
    });
  }

  verifies(["C8", "P4"], "a client that works for an agent stays an agent's, with a person's token", async () => {
    const { hosted } = await open([reply().tool("bash", { command: "touch w" }), reply().text("ok")]);
    const { url, token } = await serve(hosted);
    const exchange = fetchExchange(new URL(url.origin));
    const connect = (more: { readonly identity?: "agent" }) =>
      HttpClient.connect({ token, exchange, place: url.href, ...more });
    const agent = await connect({ identity: "agent" });
    closing.push(() => agent.close());
    expect(agent.identity).toBe("agent");
    const created = await agent.send("CreateSession", {});
    const session = (created.ok ? created.session : undefined) as SessionId;
    const asked = new Promise<CallId>((resolve) => {
      agent.subscribe((event) => {
        if (event.kind === "PermissionRequested") resolve(event.payload.call);
      });
    });
    await agent.send("AttachSession", {}, session);
    await agent.send("SendInput", { content: [{ type: "text", text: "go" }] }, session);
    const answer = { call: await asked, decision: "allow_once" } as const;
    expect((await agent.send("AnswerPermission", answer, session)).ok).toBe(false);
    expect((await agent.send("SetMode", { mode: "allow" }, session)).ok).toBe(false);
    // To shake hands again does not make a person of it.
    const headers = { "x-oxbow-token": token, "x-oxbow-client": agent.id };
    await (await fetch(new URL("/v1/handshake", url), { headers })).text();
    expect((await agent.send("AnswerPermission", answer, session)).ok).toBe(false);
    const person = await connect({});
    closing.push(() => person.close());
    expect((await person.send("AnswerPermission", { ...answer, decision: "deny" }, session)).ok).toBe(true);
  });

  verifies(["C8"], "needs a token, and a session of one token is unknown to others", async () => {
    const { hosted } = await open([]);
    const { url, token } = await serve(hosted);
    const post = (headers: Record<string, string>, body: object) =>
      fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
        body: JSON.stringify(body),
      });
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect((await post({}, list)).status).toBe(401);
    const stranger = await post({ authorization: `Bearer ${token}`, "mcp-session-id": "stolen" }, list);
    expect(stranger.status).toBe(404);
  });
});
