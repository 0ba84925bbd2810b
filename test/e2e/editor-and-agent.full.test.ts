/** `oxbow acp` and `oxbow mcp-server` as an editor and another agent start them: nothing but the protocol on standard output. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, onTestFinished } from "vitest";
import { connect, ownEngine } from "../../src/clients/sdk-node/index.js";
import type { SessionId } from "../../src/protocol/ids.js";
import type { JsonObject } from "../../src/protocol/json.js";
import { McpParents } from "../../src/security/trust/mcp-parents.js";
import { parentProgram } from "../../src/system/parent-process.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { BIN, NO_LOCAL_SERVERS, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel;
afterEach(() => mock.close());

interface Message extends JsonObject {
  readonly id?: number;
  readonly method?: string;
  readonly result?: JsonObject;
  readonly error?: JsonObject;
}

/** `through`: a program that starts it instead of the test. */
async function start(args: readonly string[], home: string, through: readonly string[] = []) {
  const cwd = await temporaryFolder();
  const env = { PATH: process.env.PATH, HOME: home, OXBOW_HOME: home, ...NO_LOCAL_SERVERS };
  const child = spawn(process.execPath, [...through, BIN, ...args], {
    ...{ cwd, env: { ...env, ...providerEnvironment("anthropic", mock.url) } },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const answers = new Map<number, (message: Message) => void>();
  const others: Message[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    const answer = message.id === undefined ? undefined : answers.get(message.id);
    if (answer === undefined) others.push(message);
    else answer(message);
  });
  const write = (message: JsonObject) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = 0;
  const request = (method: string, params: JsonObject) => {
    const id = ++last;
    write({ id, method, params });
    return new Promise<Message>((resolve) => answers.set(id, resolve));
  };
  const end = () => {
    child.stdin.end();
    return new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  };
  return { cwd, request, write, end, others };
}

verifies(["C4"], "an editor starts 'oxbow acp', prompts and closes it", async () => {
  mock = await startMockModel({ script: script([reply().text("Hello from the model.")]) });
  const { cwd, request, end, others } = await start(["acp"], await temporaryFolder());
  const early = await request("session/new", { cwd, mcpServers: [] });
  expect(early.error).toMatchObject({ code: -32600 });
  await request("initialize", { protocolVersion: 1, clientInfo: { name: "test", version: "1" } });
  const opened = await request("session/new", { cwd, mcpServers: [] });
  const prompt = [{ type: "text", text: "Hi" }];
  const answered = await request("session/prompt", { sessionId: opened.result?.sessionId, prompt });
  expect(answered.result).toEqual({ stopReason: "end_turn" });
  expect(JSON.stringify(others)).toContain("Hello from the model.");
  expect(await end()).toBe(0);
});

verifies(
  ["P4", "C4"],
  "an agent that removes its mark and starts 'oxbow acp' cannot answer itself, and gets no token",
  async () => {
    mock = await startMockModel({
      script: script([reply().tool("bash", { command: "touch made" }), reply().text("No.")]),
    });
    const home = await temporaryFolder();
    // As the engine starts a command without a sandbox.
    const engine = join(home, "oxbow");
    await writeFile(
      engine,
      'require("child_process").spawn(process.execPath, process.argv.slice(2), { stdio: "inherit" }).on("exit", process.exit);',
    );
    const { cwd, request, end, others } = await start(["acp", "--permission-mode", "ask"], home, [engine]);
    await request("initialize", { protocolVersion: 1 });
    const { result } = await request("session/new", { cwd, mcpServers: [] });
    await request("session/prompt", { sessionId: result?.sessionId, prompt: [{ type: "text", text: "Hi" }] });
    expect(others.filter(({ method }) => method === "session/request_permission")).toEqual([]);
    expect(JSON.stringify(others)).toContain("needs the user's permission");
    expect(await end()).toBe(0);
    expect(await readdir(join(home, "state"))).not.toContain("control.token");
    expect(await readdir(cwd)).not.toContain("made");
  },
);

/** A home in which this process may drive Oxbow. */
async function homeOfParent(): Promise<string> {
  const home = await temporaryFolder();
  const own = await parentProgram(process.pid);
  if (own === undefined) throw new Error("the system does not name this process");
  const places = { config: join(home, "config"), state: join(home, "state") };
  await mkdir(places.config, { mode: 0o700 });
  await new McpParents(places).allow(own, { attach: "never", allowed_at: "" });
  return home;
}

async function startOuterAgent(args: readonly string[], home: string) {
  const started = await start(["mcp-server", ...args], home);
  const client = { capabilities: {}, clientInfo: { name: "outer", version: "1" } };
  const begun = await started.request("initialize", { protocolVersion: "2025-11-25", ...client });
  started.write({ method: "notifications/initialized" });
  return { ...started, begun };
}

verifies(["C8"], "an allowed program starts 'oxbow mcp-server', runs the agent and closes it", async () => {
  mock = await startMockModel({ script: script([reply().tool("ls", {}), reply().text("Nothing here.")]) });
  const { request, end, others, begun } = await startOuterAgent([], await homeOfParent());
  expect(begun.result?.instructions).toContain("cannot approve");
  const tool = { name: "run_agent_with_shell_access", arguments: { prompt: "What is here?" } };
  const { result } = await request("tools/call", tool);
  expect(result?.structuredContent).toMatchObject({ text: "Nothing here.", turns: 2, tools_used: ["ls"] });
  expect(others).toEqual([]);
  expect(await end()).toBe(0);
});

verifies(
  ["C8", "C10"],
  "an agent that drives the running engine brings its keys and its flags, which widen nothing",
  async () => {
    mock = await startMockModel({ script: script([reply().text("From the model.")]) });
    const home = await homeOfParent();
    const env = { PATH: process.env.PATH, HOME: home, OXBOW_HOME: home, ...NO_LOCAL_SERVERS };
    const engine = spawn(process.execPath, [BIN, "serve"], { cwd: home, env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void engine.kill());
    await once(engine.stdout, "data");
    const { client: person } = await connect(await ownEngine(env));
    onTestFinished(() => person.close());

    const { cwd, request, end } = await startOuterAgent(["--permission-mode", "ask"], home);
    const tool = { name: "run_agent_with_shell_access", arguments: { prompt: "Hi" } };
    const { result } = await request("tools/call", tool);
    expect(result?.structuredContent).toMatchObject({ text: "From the model." });
    const told = result?.structuredContent as { readonly session: SessionId } | undefined;
    const status = await person.query("GetStatus", {}, told?.session);
    expect(status.ok && status.answer.place).toMatchObject({ cwd, mode: "ask" });
    expect(await end()).toBe(0);

    const { client: agent } = await connect({ ...(await ownEngine(env)), identity: "agent" });
    onTestFinished(() => agent.close());
    const flags = ["--permission-mode=allow"];
    const wider = await agent.send("CreateSession", { start: { environment: { PATH: "/bin" }, flags } });
    expect(wider).toMatchObject({
      failure: { reason: "InvalidInput", message: expect.stringContaining("is for people") },
    });
    const wide = await start(["mcp-server", "--permission-mode", "allow"], home);
    expect(await wide.end()).toBe(2);
  },
);
