/** The surroundings that a terminal brings with its session: they hold for commands and files, also when the terminal is gone. */
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { plainText } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { hostEngine } from "../support/hosted-engine.js";
import { providerEnvironment, temporaryFolder } from "../support/program.js";
import { type AskOptions, serve } from "../support/served-engine.js";
import { settledTurn } from "../support/slash-turn.js";
import { verifies } from "../verifies.js";

const SHOW = "echo $MARK; umask; touch made; mkdir folder";

function outputs(events: readonly Envelope[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.kind !== "ToolResult" || event.payload.tool !== "bash") return [];
    return plainText(event.payload.content).trim().split("\n").slice(0, 2);
  });
}

verifies(["C10", "S6"], "only the owner's token brings an environment, and only over the Unix socket", async () => {
  const served = await serve();
  onTestFinished(() => served.close());
  const body = { start: { environment: { PATH: process.env.PATH ?? "", MARK: "brought" } } };
  const create = async (how: AskOptions) => {
    await served.ask("/v1/handshake", how);
    return (await served.ask("/v1/sessions", { ...how, method: "POST", body })).json;
  };
  expect(await create({})).toMatchObject({ session: expect.stringMatching(/^sess_/) });
  const { token } = await served.served.tokens.make({ identity_class: "human", display_name: "another person" });
  for (const how of [{ over: "port" }, { token }, { token, over: "port" }] as const)
    expect(JSON.stringify(await create(how))).toContain("Only the owner of the engine may bring an environment");
});

verifies(["C10", "S3"], "a new session whose engine died before its first turn opens again with its id", async () => {
  const mock = await startMockModel({ script: script([reply().text("Here.")]) });
  onTestFinished(() => mock.close());
  const base = await temporaryFolder();
  const home = join(base, "home");
  await mkdir(home);
  const environment = {
    ...{ PATH: process.env.PATH ?? "", HOME: home, OXBOW_HOME: home },
    ...(providerEnvironment("anthropic", mock.url) as Record<string, string>),
  };
  const open = async () => {
    const { engine } = await hostEngine(base, mock, { home, isDetached: true });
    onTestFinished(() => engine.close());
    return engine.host.connect({
      ...{ id: engine.newClientId(), identity: "human", canAnswer: true, isLocalOwner: true, transport: "inproc" },
    });
  };
  const start = { environment, flags: ["--permission-mode=ask"] };
  const created = await (await open()).send("CreateSession", { cwd: base, start });
  const session = (created.ok ? created.session : undefined) as SessionId;

  const owner = await open();
  const again = { cwd: base, resume: session, start };
  expect(await owner.send("CreateSession", again)).toMatchObject({ failure: { reason: "SessionNotFound" } });
  const anew = await owner.send("CreateSession", { ...again, start: { ...start, anew: true } });
  expect(anew).toMatchObject({ ok: true, session });
  const status = await owner.query("GetStatus", {}, session);
  expect(status.ok && status.answer.place).toMatchObject({ cwd: base, mode: "ask" });
  // The ids of the first run may name other events here.
  expect((await settledTurn(owner, session, "go"))[0]).toMatchObject({ id: 1, kind: "SessionContinued" });
});

verifies(
  ["C10", "S6"],
  "a session keeps the environment and the umask of its terminal in an engine that resumes it without the terminal",
  async () => {
    const mock = await startMockModel({
      script: script([
        reply().tool("bash", { command: SHOW }),
        reply().tool("write", { path: "deep/new.txt", content: "x" }),
        reply().text("Done."),
        reply().tool("bash", { command: SHOW }),
        reply().text("Done."),
      ]),
    });
    onTestFinished(() => mock.close());
    const base = await temporaryFolder();
    const home = join(base, "home");
    const cwd = join(base, "work");
    await mkdir(join(home, "config"), { recursive: true });
    await mkdir(cwd);
    await writeFile(join(home, "config/config.toml"), 'sandbox = "off"\n');
    const given = {
      PATH: process.env.PATH ?? "",
      HOME: home,
      OXBOW_HOME: home,
      ...providerEnvironment("anthropic", mock.url),
    };
    const environment = Object.fromEntries(
      Object.entries({ ...given, MARK: "of the terminal" }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    );
    const open = async () => {
      const { engine } = await hostEngine(base, mock, { home, isDetached: true, env: { MARK: "of the engine" } });
      const owner = engine.host.connect({
        ...{ id: engine.newClientId(), identity: "human", canAnswer: true, isLocalOwner: true, transport: "inproc" },
      });
      return { engine, owner };
    };
    const first = await open();
    const flags = ["--permission-mode=allow"];
    const created = await first.owner.send("CreateSession", { cwd, start: { environment, umask: 0o027, flags } });
    const session = (created.ok ? created.session : undefined) as SessionId;
    expect(outputs(await settledTurn(first.owner, session, "go"))).toEqual(["of the terminal", "0027"]);
    const modeOf = async (name: string) => (await stat(join(cwd, name))).mode & 0o777;
    expect([await modeOf("made"), await modeOf("deep/new.txt")]).toEqual([0o640, 0o640]);
    expect([await modeOf("folder"), await modeOf("deep")]).toEqual([0o750, 0o750]);
    await first.engine.close();

    const second = await open();
    onTestFinished(() => second.engine.close());
    expect(await second.owner.send("CreateSession", { resume: session })).toMatchObject({ ok: true });
    // What the flags allowed was for the terminal that gave them.
    const status = await second.owner.query("GetStatus", {}, session);
    expect(status.ok && status.answer.place).toMatchObject({ cwd, mode: "auto" });
    await second.owner.send("SetMode", { mode: "allow" }, session);
    expect(outputs(await settledTurn(second.owner, session, "go"))).toEqual(["of the terminal", "0027"]);
  },
);
