/** Shows what clients look up, and a client that follows a session from the middle, with the real engine and store. */
import { execFileSync } from "node:child_process";
import { realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { RUN_FLAGS } from "../../src/cli/commands/run-flags.js";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import { parseFlags } from "../../src/feature/flags.js";
import type { EngineClient } from "../../src/protocol/client.js";
import type { CommandPayloads } from "../../src/protocol/commands.js";
import { type InputContent, text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { createModelRegistry } from "../../src/runtime/models/model-registry.js";
import { ModelRoutes } from "../../src/runtime/models/model-routes.js";
import { createEngine, type Engine } from "../../src/runtime/open-engine.js";
import { SessionStores } from "../../src/runtime/sessions/session-stores.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let home: string;
let root: string;
const mocks: MockModel[] = [];
const engines: Engine[] = [];
beforeEach(async () => {
  home = await temporaryFolder();
  root = await realpath(await temporaryFolder());
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  for (const mock of mocks.splice(0)) await mock.close();
});

/** The model makes the calls one after the other, then says that it is done. */
async function open(commands: readonly string[], { flags = [] as string[], timeoutMs = 60_000 } = {}): Promise<Engine> {
  const replies = [...commands.map((command) => reply().tool("bash", { command })), reply().text("Done.")];
  const mock = await startMockModel({ script: script(replies) });
  mocks.push(mock);
  const variables = { PATH: process.env.PATH, OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
  const loaded = await loadSettings(parseFlags(RUN_FLAGS, ["--sandbox", "off", ...flags], "run"), variables);
  const permission_timeout = { value: timeoutMs, origin: "test" };
  const changed = { ...loaded, settings: { ...loaded.settings, permission_timeout } };
  const registry = createModelRegistry({ variables });
  const { model } = await registry.choose({});
  const notify = () => {};
  const sessions = new SessionStores({ ...changed, variables, root, notify, hint: notify });
  const engine = createEngine({
    place: {
      loaded: changed,
      root,
      registry,
      routes: new ModelRoutes({ loaded: changed, registry, clock: systemClock }),
      model,
    },
    variables,
    log: () => {},
    sessions,
    notify,
    hint: notify,
  });
  engines.push(engine);
  return engine;
}

function connect(engine: Engine): EngineClient {
  return connectInProcess(engine.host, { id: engine.newClientId(), canAnswer: true });
}

function until<K extends Envelope["kind"]>(client: EngineClient, kind: K): Promise<Extract<Envelope, { kind: K }>> {
  return new Promise((resolve) => {
    client.subscribe((event) => {
      if (event.kind === kind) resolve(event as Extract<Envelope, { kind: K }>);
    });
  });
}

async function create(client: EngineClient): Promise<SessionId> {
  const created = await client.send("CreateSession", {});
  if (!created.ok || created.session === undefined) throw new Error("no session");
  return created.session;
}

describe("a client", () => {
  verifies(["C1"], "looks up sessions, models, commands, tools, permissions, questions and the status", async () => {
    const engine = await open(["touch made"], { flags: ["--permission-mode", "ask"] });
    const client = connect(engine);
    const session = await create(client);
    const asked = until(client, "PermissionRequested");
    const ended = until(client, "TurnEnded");
    await client.send("SendInput", { content: [text("make it")] }, session);
    const { payload } = await asked;
    expect(await client.query("ListQuestions", {}, session)).toEqual({ ok: true, answer: { questions: [payload] } });
    expect(await client.query("GetStatus", {}, session)).toMatchObject({ ok: true, answer: { session, busy: true } });
    await client.send("AnswerPermission", { call: payload.call, decision: "allow_tool" }, session);
    await ended;
    expect(await client.query("ListQuestions", {}, session)).toEqual({ ok: true, answer: { questions: [] } });
    expect(await client.query("GetPermissions", {}, session)).toMatchObject({
      ok: true,
      answer: { mode: "ask", rules: [], session_rules: [{ number: 1 }] },
    });
    const tools = await client.query("ListTools", {}, session);
    expect(tools.ok && tools.answer.tools.find(({ name }) => name === "bash")).toMatchObject({ mutating: true });
    const commands = await client.query("ListCommands", {});
    expect(commands.ok && commands.answer.commands.map(({ name }) => name)).toContain("permissions:list");
    const route = commands.ok ? commands.answer.commands.find(({ name }) => name === "route:add") : undefined;
    expect(route?.arguments).toEqual([{ name: "NAME" }, { name: "MODEL", rest: true, source: "model" }]);
    await writeFile(join(root, "notes.md"), "");
    const files = await client.query("FindFiles", { query: "not" }, session);
    expect(files).toMatchObject({ ok: true, answer: { paths: ["notes.md"] } });
    expect(await client.query("FindFiles", { query: "../" }, session)).toMatchObject({ answer: { paths: [] } });
    const sessions = await client.query("ListSessions", { cwd: root });
    expect(sessions).toMatchObject({ ok: true, answer: { sessions: [{ id: session, live: true, title: "make it" }] } });
    expect(await client.query("GetStatus", {}, "sess_none")).toMatchObject({ failure: { reason: "SessionNotFound" } });
  });

  verifies(
    ["C1", "M3"],
    "looks up the models of providers that are ready, and what is wrong with the others",
    async () => {
      const engine = await open([]);
      const found = await connect(engine).query("ListModels", {});
      if (!found.ok) throw new Error(found.failure.message);
      expect(found.answer.models).toContainEqual(expect.objectContaining({ provider: "offline", model: "offline" }));
      expect(found.answer.models.some(({ provider }) => provider === "anthropic")).toBe(true);
      expect(found.answer.problems).toEqual([]);
    },
  );

  verifies(["C1"], "attaches after an event in the middle of a turn, without a gap or a double", async () => {
    const engine = await open(["echo one", "echo two", "echo three"], { flags: ["--permission-mode", "ask"] });
    const first = connect(engine);
    const session = await create(first);
    const all: number[] = [];
    const late: number[] = [];
    const second = connect(engine);
    second.subscribe(({ id }) => late.push(id));
    const ended = until(first, "TurnEnded");
    first.subscribe((event) => {
      all.push(event.id);
      if (event.kind !== "PermissionRequested") return;
      void first.send("AnswerPermission", { call: event.payload.call, decision: "allow_once" }, session);
    });
    const result = until(first, "ToolResult");
    await first.send("SendInput", { content: [text("go")] }, session);
    await result;
    expect(await second.send("AttachSession", { after: 2 }, session)).toEqual({ ok: true });
    await ended;
    expect(late).toEqual(all.filter((id) => id > 2));
    expect(await second.send("AttachSession", { after: 0 }, session)).toMatchObject({ ok: false });
  });

  verifies(
    ["C1"],
    "gets a session with the model it names, and is refused a folder that the engine does not serve",
    async () => {
      const engine = await open([]);
      const client = connect(engine);
      const created = await client.send("CreateSession", { cwd: root, model: "offline" });
      const session = created.ok ? created.session : undefined;
      expect(await client.query("GetStatus", {}, session)).toMatchObject({ answer: { provider: "offline" } });
      expect(await client.send("CreateSession", { cwd: "/elsewhere" })).toMatchObject({ ok: false });
      expect(await client.send("CreateSession", { model: "" })).toMatchObject({ failure: { reason: "InvalidInput" } });
    },
  );
});

describe("a client that looks back", () => {
  verifies(
    ["C1", "S12"],
    "gets turns, changes between events, costs and a comparison, also of a closed session",
    async () => {
      const engine = await open(["printf 'one\\ntwo\\n' > a", "printf 'three\\n' >> a; rm b"], {
        flags: ["--permission-mode", "allow"],
      });
      await writeFile(join(root, "b"), "gone\n");
      const client = connect(engine);
      const session = await create(client);
      const events: Envelope[] = [];
      client.subscribe((event) => events.push(event));
      const ended = until(client, "TurnEnded");
      await client.send("SendInput", { content: [text("write")] }, session);
      await ended;
      await client.send("EndSession", {}, session);
      const turns = await client.query("ListTurns", {}, session);
      const { turn } = (await ended).payload;
      const last = (await ended).id;
      const [started] = events.filter(({ kind }) => kind === "TurnStarted");
      expect(turns).toMatchObject({
        ok: true,
        answer: {
          turns: [
            {
              number: 1,
              turn,
              start_event: started?.id,
              end_event: last,
              outcome: "answered",
              input: "write",
              calls: 2,
            },
          ],
        },
      });
      const costs = await client.query("GetCosts", { by: "session" });
      expect(costs).toMatchObject({ ok: true, answer: { total: { calls: 3 }, lines: [{ name: session, calls: 3 }] } });
      expect(await client.query("GetCosts", { since: "soon" })).toMatchObject({ failure: { reason: "InvalidInput" } });
      expect(await client.query("GetChanges", {}, session)).toMatchObject({
        ok: true,
        answer: { notes: [expect.stringContaining("directly"), expect.any(String)] },
      });
      const other = await create(client);
      const again = until(client, "TurnEnded");
      await client.send("SendInput", { content: [text("again")] }, other);
      await again;
      expect(await client.query("CompareSessions", { others: [other] }, session)).toMatchObject({
        ok: true,
        answer: {
          same_turns: 0,
          sessions: [{ id: session }, { id: other }],
          turns: [{ sides: [{ calls: 2 }, { input: "again" }] }],
        },
      });
      expect(await client.query("CompareSessions", { others: ["sess_none"] }, session)).toMatchObject({ ok: false });
    },
  );
});

describe("a client that runs a turn again", () => {
  verifies(
    ["C1", "S12"],
    "gets the copy, its folder and the inputs to send, and continues there with another model",
    async () => {
      const engine = await open(["printf 'one\\n' > a"], { flags: ["--permission-mode", "allow"] });
      const git = (...args: readonly string[]) =>
        execFileSync("git", ["-C", root, "-c", "user.name=a", "-c", "user.email=a@b", ...args]);
      git("init", "-q");
      git("commit", "-q", "--allow-empty", "-m", "first");
      const client = connect(engine);
      const session = await create(client);
      const ended = until(client, "TurnEnded");
      await client.send("SendInput", { content: [text("write")] }, session);
      await ended;
      const args = `${session} --from 1 --model offline`;
      const asked = { namespace: "slash", verb: "rerun", payload: { args } };
      const agent = connectInProcess(engine.host, { id: engine.newClientId(), canAnswer: false, identity: "agent" });
      await agent.send("AttachSession", {}, session);
      expect(await agent.send("CustomCommand", asked, session)).toMatchObject({ ok: false });
      const made = await client.send("CustomCommand", asked, session);
      if (!made.ok) throw new Error(made.failure.message);
      const { value, follow } = made.value as unknown as {
        value: { id: SessionId; cwd: string; inputs: InputContent[][] };
        follow: CommandPayloads["CreateSession"];
      };
      onTestFinished(() => rm(dirname(value.cwd), { recursive: true, force: true }));
      expect(value.inputs).toEqual([[text("write")]]);
      expect(follow).toEqual({ resume: value.id, cwd: value.cwd, model: "offline" });
      expect(await client.send("CreateSession", follow)).toMatchObject({ ok: true, session: value.id });
      const again = until(client, "TurnEnded");
      await client.send("SendInput", { content: value.inputs[0] ?? [] }, value.id);
      expect((await again).session).toBe(value.id);
      const compared = await client.query("CompareSessions", { others: [value.id] }, session);
      expect(compared).toMatchObject({
        ok: true,
        answer: { same_turns: 0, sessions: [{}, { model: "offline:offline", branch_of: { session, event: 0 } }] },
      });
      expect(await client.query("GetStatus", {}, value.id)).toMatchObject({ answer: { place: { cwd: value.cwd } } });
    },
  );
});

describe("a person at a client", () => {
  verifies(
    ["C1", "P2"],
    "changes the mode, which applies from the next call on and is reported to the others",
    async () => {
      const engine = await open(["touch made"], { flags: ["--permission-mode", "deny"] });
      const client = connect(engine);
      const session = await create(client);
      expect(await client.send("SetMode", { mode: "allow" }, session)).toEqual({ ok: true });
      const status = await client.query("GetStatus", {}, session);
      expect(status).toMatchObject({ ok: true, answer: { place: { mode: "allow", cwd: root } } });
      expect(await client.query("ListSessions", {})).toMatchObject({ ok: true, answer: { sessions: [] } });
      const ended = until(client, "TurnEnded");
      const result = until(client, "ToolResult");
      await client.send("SendInput", { content: [text("make it")] }, session);
      expect((await result).payload.status).toBe("ok");
      await ended;
      const told = until(client, "ModeChanged");
      await client.send("SetMode", { mode: "plan" }, session);
      expect((await told).payload).toEqual({ mode: "plan", by: client.id });
      expect(await client.query("GetStatus", {}, session)).toMatchObject({ answer: { place: { mode: "plan" } } });
    },
  );

  verifies(["P2"], "is needed for every mode but plan", async () => {
    const engine = await open([], { flags: ["--permission-mode", "ask"] });
    const agent = connectInProcess(engine.host, { id: engine.newClientId(), identity: "agent", canAnswer: false });
    const session = await create(agent);
    expect(await agent.send("SetMode", { mode: "allow" }, session)).toMatchObject({ ok: false });
    expect(await agent.send("SetMode", { mode: "plan" }, session)).toEqual({ ok: true });
    expect(await agent.send("SetMode", { mode: "ask" }, session)).toMatchObject({ ok: false });
  });

  verifies(["C1"], "removes a waiting input, and no turn begins with it", async () => {
    const engine = await open(["touch made"], { flags: ["--permission-mode", "ask"] });
    const client = connect(engine);
    const session = await create(client);
    const asked = until(client, "PermissionRequested");
    const dropped = until(client, "InputDropped");
    const ended = until(client, "TurnEnded");
    await client.send("SendInput", { content: [text("make it")] }, session);
    const { call } = (await asked).payload;
    await client.send("SendInput", { content: [text("then this")], queue: true }, session);
    await client.send("TakeBackInput", {}, session);
    expect((await dropped).payload).toEqual({ inputs: [[text("then this")]], by: client.id });
    await client.send("AnswerPermission", { call, decision: "deny" }, session);
    await ended;
    expect(await client.query("GetStatus", {}, session)).toMatchObject({ answer: { waiting: 0 } });
  });
});
