import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { BIN, envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { until } from "../support/waiting.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function ollama(script: string) {
  const mock = await startMockModel({ script });
  mocks.push(mock);
  return { mock, env: providerEnvironment("ollama", mock.url) };
}

describe("a model of Ollama", () => {
  verifies(["M20", "M10"], "gets the context it needs, and a cut prompt is reported", async () => {
    const { mock, env } = await ollama("model small context=16384 cut=silent\nreply times=any\n  text: Hello.");
    const home = await temporaryFolder();
    await mkdir(join(home, "config"));
    await writeFile(join(home, "config", "config.toml"), 'keep_alive = "45m"\n');
    const cut = await oxbow(["--model", "ollama:small", "--output-format", "stream-json"], {
      env: { ...env, OXBOW_HOME: home },
      // Fits by our estimate, and does not by the server's count.
      input: "word ".repeat(15_000),
    });
    const notices = envelopes(cut.stdout).filter((event) => event.kind === "Notice");
    expect(notices).toMatchObject([
      { payload: { level: "warning", message: expect.stringContaining("it has a context of 16384 tokens") } },
    ]);
    expect(mock.requests[0]?.body).toMatchObject({ options: { num_ctx: 16_384 }, keep_alive: "45m", truncate: false });
    await writeFile(join(home, "config", "config.toml"), "num_ctx = 6000\n");
    const fixed = await oxbow(["run", "--model", "ollama:small", "hi"], { env: { ...env, OXBOW_HOME: home } });
    expect([fixed.code, fixed.stdout, fixed.stderr]).toEqual([0, "Hello.\n", ""]);
    expect(mock.requests[1]?.body).toMatchObject({ options: { num_ctx: 6000 } });
    expect(mock.requests[1]?.body).not.toHaveProperty("keep_alive");
  });

  verifies(["M20"], "may be silent for as long as local_idle says", async () => {
    const { mock, env } = await ollama("model small context=16384\nreply times=any\n  text: So\n  hang");
    const home = await temporaryFolder();
    await mkdir(join(home, "config"));
    const args = ["run", "--model", "ollama:small", "--retry-wait", "0", "hi"];
    const run = () => oxbow(args, { env: { ...env, OXBOW_HOME: home } });
    await writeFile(join(home, "config", "config.toml"), 'local_idle = "200ms"\n');
    const { code, stderr } = await run();
    expect(code).toBe(1);
    expect(stderr).toContain("the server sent nothing for 0.2s");
    expect(mock.requests.length).toBeGreaterThan(0);
  });

  verifies(["M20"], "is refused, not cut, by a server that knows how", async () => {
    const { env } = await ollama("model small context=8192\nreply\n  text: Hello.");
    const { code, stdout, stderr } = await oxbow(["--model", "ollama:small"], { env, input: "word ".repeat(8_000) });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("The conversation does not fit in the context window of small");
  });
});

/** A program named `ollama` whose `serve` is the mock model. */
async function fakeOllama(script: string) {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "script.mock"), script);
  const program = `#!/bin/sh\n[ "$1" = serve ] || exit 9\nexec "${process.execPath}" "${BIN}" mock-model --script "${folder}/script.mock" --port "\${OLLAMA_HOST##*:}"\n`;
  await writeFile(join(folder, "ollama"), program);
  await chmod(join(folder, "ollama"), 0o755);
  const port = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
  return { PATH: `${folder}:${process.env.PATH}`, OLLAMA_HOST: `127.0.0.1:${port}` };
}

describe("oxbow ollama", () => {
  verifies(["M5"], "starts the service, pulls, uses and lists models, and stops what it started", async () => {
    const env = {
      ...(await fakeOllama("model new:1b installed=no size=2100000000\nreply times=any\n  text: I am new.\n")),
      OXBOW_PROVIDER: "offline",
      OXBOW_HOME: await temporaryFolder(),
    };
    const lines = ["start", "list", "pull new:1b", "list", "use nwe:1b", "use new:1b"].map((line) => `/ollama ${line}`);
    const input = [...lines, "hi", "/ollama", "/ollama stop", "/ollama", "/ollama nonsense"].join("\n");
    const { code, stdout, stderr } = await oxbow(["--plain"], { env, input: `${input}\n` });
    // Two of its commands are wrong.
    expect(code).toBe(2);
    expect(stdout.replaceAll(/\(log: [^)]*\)|process \d+|127\.0\.0\.1:\d+/g, "…").split("\n")).toEqual([
      "Started Ollama 0.12.6 at http://… …. It keeps running after Oxbow ends: /ollama stop stops it.",
      "No models yet. Get one: /ollama pull qwen3:8b",
      "new:1b is installed. Use it: /ollama use new:1b",
      "NAME      SIZE  PARAMETERS  QUANTIZATION  CHANGED",
      expect.stringMatching(/^new:1b {2}2\.1 GB +8\.0B +Q4_K_M +\w+ ago$/),
      "Model: ollama:new:1b, from the next turn on.",
      "I am new.",
      "Ollama 0.12.6 at http://… (started by Oxbow, …)",
      "In memory:",
      expect.stringMatching(/^ {2}new:1b {2}2\.1 GB, CPU, context \d+, unloaded in \dm$/),
      "Stopped Ollama.",
      "Ollama does not answer at http://…. /ollama start starts it; OLLAMA_HOST sets another address.",
      "",
    ]);
    expect(stderr).toContain("'nwe:1b' is not installed. Did you mean new:1b?");
    expect(stderr).toContain("There is no '/ollama nonsense'.");
    expect(await readFile(join(env.OXBOW_HOME, "state", "ollama", "serve.log"), "utf8")).toContain("mock model at");
  });

  verifies(["M5"], "of several is one that can call tools, or the one that 'oxbow ollama use' named", async () => {
    const models = "model first:1b capabilities=completion\nmodel other:1b capabilities=completion,tools\n";
    const { mock, env } = await ollama(`${models}reply times=any\n  text: ok\n`);
    const home = { ...env, OXBOW_HOME: await temporaryFolder() };
    expect((await oxbow(["run", "hi"], { env: home })).stderr).toBe("");
    const used = await oxbow(["ollama", "use", "first:1b"], { env: home });
    expect(used.stdout).toContain("first:1b is loaded and is now the default");
    const { code, stderr } = await oxbow(["run", "hi"], { env: home });
    expect([code, stderr]).toEqual([0, expect.stringContaining("first:1b cannot call tools")]);
    const asked = mock.requests.map(({ body }) => (body as { model: string }).model);
    expect(asked).toEqual(["other:1b", "first:1b"]);
  });

  verifies(["M5"], "leaves a service alone that it did not start, and says why one does not start", async () => {
    const { mock, env } = await ollama("model big:70b installed=no size=40000000000 pull=600s\nreply\n  text: ok");
    const stop = await oxbow(["ollama", "stop"], { env });
    expect([stop.code, stop.stderr]).toEqual([2, expect.stringContaining("was not started by Oxbow")]);
    const status = await oxbow(["ollama", "--json"], { env });
    expect(JSON.parse(status.stdout)).toEqual({
      running: true,
      url: mock.url,
      version: "0.12.6",
      ours: false,
      models: [],
    });
    const pulling = await oxbow(["ollama", "pull", "big:70b"], {
      env,
      onStart: (child) =>
        void until(() => mock.lookups.some(({ path }) => path === "/api/pull")).then(() => child.kill("SIGINT")),
    });
    expect([pulling.code, pulling.stderr]).toEqual([130, expect.stringContaining("Pull again to resume it.")]);
    const broken = await oxbow(["ollama", "start"], { env: await fakeOllama("nonsense\n") });
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining("'ollama serve' ended at once: ")]);
    const missing = await oxbow(["ollama", "start"], { env: { PATH: await temporaryFolder() } });
    expect(missing.stderr).toContain("the program 'ollama' is not on PATH");
  });
});

describe("oxbow models test", () => {
  const SCRIPT = `
model weak:1b
reply times=any when last-user contains "17 + 25"
  text: 42
reply times=any when last-tool-result contains "snow"
  text: Let me see.
reply times=any when last-user contains "weather in Oslo"
  text: <tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>
reply times=any when last-user contains "with the tool edit"
  tool edit {"path": "shop.js", "edits": [{"old": "sum += item.price;", "new": "sum += item.price * item.count;"}]}
reply times=any
  text: Hm.
`;

  verifies(["M20"], "measures, remembers, and gives a weak model a smaller prompt and fewer tools", async () => {
    const { mock, env: address } = await ollama(SCRIPT);
    const env = { ...address, OXBOW_HOME: await temporaryFolder() };
    const measured = await oxbow(["models", "test", "ollama:weak:1b", "--json"], { env });
    expect([measured.code, measured.stderr]).toEqual([0, ""]);
    const report = JSON.parse(measured.stdout);
    expect(report).toMatchObject({
      provider: "ollama",
      model: "weak:1b",
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const able = Object.fromEntries(
      report.findings.map((finding: { ability: string; able: boolean }) => [finding.ability, finding.able]),
    );
    expect(able).toEqual({
      answer: true,
      tool_call: true,
      parallel_calls: false,
      tool_result: false,
      string_replace: true,
      patch: false,
      json_schema: false,
      context: false,
      images: false,
    });
    const shown = await oxbow(["models", "test", "ollama:weak:1b", "--show"], { env });
    expect(shown.stdout).toContain("✓  edits by replacing text");
    expect(shown.stdout).toContain("It gets a smaller prompt and these tools: read, glob, grep, write, edit, bash.");
    const before = mock.requests.length;
    const run = () => oxbow(["run", "--model", "ollama:weak:1b", "hi"], { env });
    const offered = async () => {
      await run();
      const body = JSON.stringify(mock.requests.at(-1)?.body);
      const tools: { function: { name: string } }[] = JSON.parse(body).tools;
      return { tools: tools.map((tool) => tool.function.name), small: body.includes("One step at a time") };
    };
    expect(await offered()).toEqual({ tools: ["read", "glob", "grep", "write", "edit", "bash"], small: true });
    expect(mock.requests).toHaveLength(before + 1);
    await oxbow(["models", "test", "ollama:weak:1b", "--forget"], { env });
    const whole = await offered();
    expect(whole.small).toBe(false);
    expect(whole.tools).toEqual(expect.arrayContaining(["ls", "web_fetch", "todo"]));
  });
});
