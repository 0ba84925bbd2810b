/** Shows who may answer for whom, as clients of the protocol meet it (feature P4), and what the log keeps of every decision (P7). */
import { realpath } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { RUN_FLAGS } from "../../src/cli/commands/run-flags.js";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import { parseFlags } from "../../src/feature/flags.js";
import type { CommandReply, EngineClient, Identity } from "../../src/protocol/client.js";
import { text } from "../../src/protocol/content.js";
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
  const routes = new ModelRoutes({ loaded: changed, registry, clock: systemClock });
  const place = { loaded: changed, root, registry, routes, model };
  const engine = createEngine({ place, variables, log: () => {}, sessions, notify, hint: notify });
  engines.push(engine);
  return engine;
}

function connect(engine: Engine, identity: Identity): EngineClient {
  return connectInProcess(engine.host, { id: engine.newClientId(), identity, canAnswer: true });
}

/** Sends input and answers questions with `onQuestion`; ends with the turn. */
async function turn(
  client: EngineClient,
  session: SessionId,
  onQuestion: (event: Extract<Envelope, { kind: "PermissionRequested" }>) => void = () => {},
): Promise<readonly Envelope[]> {
  const events: Envelope[] = [];
  const ended = new Promise<void>((resolve) => {
    client.subscribe((event) => {
      events.push(event);
      if (event.kind === "PermissionRequested") onQuestion(event);
      if (event.kind === "TurnEnded") resolve();
    });
  });
  await client.send("SendInput", { content: [text("go")] }, session);
  await ended;
  return events;
}

async function newSession(client: EngineClient): Promise<SessionId> {
  const created = await client.send("CreateSession", {});
  if (!created.ok || created.session === undefined) throw new Error("no session");
  return created.session;
}

const slash = (client: EngineClient, session: SessionId, verb: string, args = "") =>
  client.send("CustomCommand", { namespace: "slash", verb, payload: { args } }, session);
const said = (reply: CommandReply) => (reply.ok ? JSON.stringify(reply.value) : reply.failure.message);
const only = <K extends Envelope["kind"]>(events: readonly Envelope[], kind: K) =>
  events.filter((event): event is Extract<Envelope, { kind: K }> => event.kind === kind);

describe("clients of one session", () => {
  verifies(["P4"], "an agent never answers its own turn, a person does", async () => {
    const engine = await open(["touch made"]);
    const [agent, person] = [connect(engine, "agent"), connect(engine, "human")];
    const session = await newSession(agent);
    await person.send("AttachSession", {}, session);
    const refusals: CommandReply[] = [];
    const events = await turn(agent, session, async ({ payload: { call } }) => {
      refusals.push(await agent.send("AnswerPermission", { call, decision: "allow_once" }, session));
      refusals.push(await agent.send("ExitPlanMode", { approve: true }, session));
      for (const verb of ["permissions", "shell", "plan", "safemode"]) refusals.push(await slash(agent, session, verb));
      await person.send("AnswerPermission", { call, decision: "allow_once" }, session);
    });
    expect(refusals.map(({ ok }) => ok)).toEqual([false, false, false, false, false, false]);
    expect(said(refusals[0] as CommandReply)).toContain("its own turn");
    expect(only(events, "PermissionResolved").map(({ payload }) => payload.decided_by)).toEqual([person.id]);
    expect(only(events, "ToolResult")[0]?.payload.status).toBe("ok");
  });

  verifies(["P4"], "without a person no client gets the question, however many agents are there", async () => {
    const engine = await open(["touch made"]);
    const [agent, other] = [connect(engine, "agent"), connect(engine, "agent")];
    const session = await newSession(agent);
    await other.send("AttachSession", {}, session);
    const events = await turn(agent, session);
    expect(only(events, "PermissionRequested")).toEqual([]);
    expect(only(events, "TurnEnded")[0]?.payload.outcome).toBe("denied");
  });

  verifies(["P4"], "a question without an answer in time is denied, and the model gets the reason", async () => {
    const engine = await open(["touch made"], { timeoutMs: 20 });
    const person = connect(engine, "human");
    const events = await turn(person, await newSession(person));
    const [result] = only(events, "ToolResult");
    expect(result?.payload.status).toBe("denied");
    expect(JSON.stringify(result?.payload.content)).toContain("Denied automatically after");
    expect(only(events, "TurnEnded")[0]?.payload.outcome).toBe("denied");
  });
});

describe("the audit", () => {
  verifies(
    ["P7", "L11"],
    "holds what the log holds: every allow, denial and error, in this run and the next",
    async () => {
      const commands = ["ls", "cat missing-file", "secret-tool lookup a b", "touch made"];
      const first = await open(commands);
      const person = connect(first, "human");
      const session = await newSession(person);
      const live = await turn(person, session, ({ payload: { call } }) => {
        void person.send("AnswerPermission", { call, decision: "allow_once" }, session);
      });
      const shown = said(await slash(person, session, "audit", "show 50"));
      const why = said(await slash(person, session, "why"));
      await first.close();
      engines.length = 0;
      const decisions = only(live, "ToolResult").map(({ payload }) => [payload.status, payload.decided_by]);
      expect(decisions).toEqual([
        ["ok", "quiet preset"],
        ["error", "quiet preset"],
        ["denied", undefined],
        ["ok", undefined],
      ]);
      const second = await open([]);
      const again = connect(second, "human");
      await again.send("CreateSession", { resume: session });
      expect(said(await slash(again, session, "audit", "show 50"))).toBe(shown);
      for (const [outcome, what, by] of [
        ["success", "bash: ls", "quiet preset"],
        ["error", "bash: cat missing-file", "quiet preset"],
        ["denied", "bash: secret-tool lookup a b", "blocklist"],
        ["allowed", "bash: touch made", person.id],
      ] as const) {
        expect(shown).toMatch(new RegExp(`${outcome} +${what}  \\(${by}`));
      }
      expect(why).toContain("touch made");
      const later = said(await slash(again, session, "why"));
      expect(later).toContain("bash: touch made");
      expect(later).toContain(person.id);
    },
  );
});
