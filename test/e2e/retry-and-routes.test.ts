/** Retries, routes and input while a turn runs, from the command line against a real server. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, sampleKey, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function mockModel(script: string): Promise<MockModel> {
  const mock = await startMockModel({ script });
  mocks.push(mock);
  return mock;
}

describe("a provider that is busy", () => {
  verifies(
    ["M9", "U1"],
    "is asked again after the time it named, which is shown; the answer is printed once",
    async () => {
      const mock = await mockModel(
        [
          'reply\n  error 429 rate-limit "slow down" retry-after=100ms',
          "reply\n  text: The whole\n  drop",
          "reply\n  text: The whole answer.",
          "reply\n  text: More.",
        ].join("\n"),
      );
      const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_STREAM: "1" };
      const cwd = await temporaryFolder();
      const { code, stdout, stderr, home } = await oxbow(["run", "hi"], { env, cwd });
      expect({ code, stdout }).toEqual({ code: 0, stdout: "The whole answer.\n" });
      expect(stderr).toContain("Provider anthropic rate-limited the request. Retrying in 1s…");
      expect(stderr).toContain("closed the connection in the middle of its answer. Retrying");
      expect(new Set(mock.requests.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(mock.requests).toHaveLength(3);
      // The stored text is what the model gets.
      await oxbow(["run", "more", "--continue"], { env: { ...env, OXBOW_HOME: home }, cwd });
      expect(JSON.stringify(mock.requests[3]?.body).split("The whole")).toHaveLength(2);
    },
  );

  verifies(["M9", "L9"], "Ctrl-C ends the wait at once (130)", async () => {
    const mock = await mockModel('reply times=any\n  error 429 rate-limit "slow down" retry-after=60');
    const started = Date.now();
    let pressed = false;
    const { code, stdout } = await oxbow(["run", "hi", "--stream-events"], {
      env: providerEnvironment("anthropic", mock.url),
      onOutput: (all, child) => {
        if (pressed || !all.stdout.includes("RateLimited")) return;
        pressed = child.kill("SIGINT");
      },
    });
    expect(code).toBe(130);
    expect(Date.now() - started).toBeLessThan(30_000);
    const waits = envelopes(stdout).flatMap((event) => (event.kind === "RateLimited" ? [event.payload.wait_ms] : []));
    expect(waits[0]).toBeGreaterThanOrEqual(60_000);
  });

  verifies(["M9", "O5"], "is not waited for longer than allowed: one line that says what to do (1)", async () => {
    const mock = await mockModel('reply times=any\n  error 429 rate-limit "slow down" retry-after=3600');
    const { code, stderr } = await oxbow(["run", "hi"], { env: providerEnvironment("anthropic", mock.url) });
    expect(code).toBe(1);
    expect(stderr).toBe(
      "oxbow: anthropic is rate-limiting requests. Try again in 60 min, or choose another model with --model.\n",
    );
    expect(mock.requests).toHaveLength(1);
  });
});

describe("Copilot with OpenRouter behind it", () => {
  const COPILOT = 'reply times=any\n  error 401 auth "token expired"';
  const OPENROUTER =
    "model openai/gpt-next\nmodel other/gpt-nex\nreply times=any\n  usage input=7 output=3\n  text: from there";

  async function start(more: Record<string, string> = {}) {
    const [copilot, router] = [await mockModel(COPILOT), await mockModel(OPENROUTER)];
    const env = {
      ...{ COPILOT_GITHUB_TOKEN: sampleKey(), COPILOT_BASE_URL: `${copilot.url}/v1` },
      ...{ OPENROUTER_API_KEY: sampleKey(), OPENROUTER_BASE_URL: `${router.url}/v1` },
      ...more,
    };
    const ask = (model: string, ...flags: readonly string[]) =>
      oxbow(["run", "hi", "--model", `copilot:${model}`, ...flags], { env });
    return { copilot, router, ask };
  }

  verifies(["M8", "M3"], "the same model answers there after a 401, which is said, and it gets the costs", async () => {
    const { copilot, router, ask } = await start();
    const { code, stdout } = await ask("gpt-next", "--stream-events");
    expect(code).toBe(0);
    const events = envelopes(stdout);
    expect(events.find(({ kind }) => kind === "FailedOver")?.payload).toMatchObject({
      from: { provider: "copilot", model: "gpt-next" },
      to: { provider: "openrouter", model: "openai/gpt-next" },
      reason: "AuthFailed",
      message: expect.stringContaining("copilot refused"),
    });
    const costs = events.flatMap(({ kind, payload }) => (kind === "CostIncremented" ? [payload] : []));
    expect(costs.map(({ provider, model, usage }) => [provider, model, usage.input])).toEqual([
      ["openrouter", "openai/gpt-next", 7],
    ]);
    expect([copilot.requests.length, router.requests.length]).toEqual([1, 1]);
    const plain = await ask("gpt-next");
    expect(plain.stdout).toBe("from there\n");
    expect(plain.stderr).toContain("copilot:gpt-next");
    expect(plain.stderr).toContain("openrouter:openai/gpt-next");
  });

  verifies(
    ["M8"],
    "no other model answers: without a key, with the setting off, or if there is no such model",
    async () => {
      const { router, ask } = await start();
      expect(await ask("gpt-none")).toMatchObject({ code: 1, stderr: expect.stringContaining("copilot refused") });
      const home = await temporaryFolder();
      await mkdir(join(home, "config"));
      await writeFile(join(home, "config", "config.toml"), 'copilot_fallback = "off"\n');
      const off = await start({ OXBOW_HOME: home });
      expect(await off.ask("gpt-next")).toMatchObject({ code: 1, stderr: expect.stringContaining("copilot refused") });
      const without = await start({ OPENROUTER_API_KEY: "", OPENROUTER_BASE_URL: "" });
      expect((await without.ask("gpt-next")).code).toBe(1);
      expect([router, off.router, without.router].map(({ requests }) => requests.length)).toEqual([0, 0, 0]);
    },
  );
});

const BY_MODEL = [
  'reply times=any when model is "small"\n  text: small here',
  'reply times=any when model is "broken"\n  error overloaded',
  'reply times=any when model is "big"\n  text: big here',
].join("\n");

describe("a route with rules", () => {
  verifies(["M8", "L11"], "chooses a model for each call, and events and costs show which", async () => {
    const mock = await mockModel(
      [
        'reply when model is "eyes"\n  tool read {"path": "notes.txt"}',
        'reply times=any when model is "broken"\n  error overloaded',
        'reply times=any when model is "small"\n  text: small here',
      ].join("\n"),
    );
    const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
    await mkdir(join(home, "config"), { recursive: true });
    const profile = `model = "@smart"
[routes.smart]
model = "openai:small"
[[routes.smart.rules]]
name = "first"
turn_under = 2
text = "*look*"
model = "anthropic:eyes"
[[routes.smart.rules]]
tools = ["bash"]
text = "*break*"
model = "anthropic:broken"
`;
    await writeFile(join(home, "config", "config.toml"), profile);
    await writeFile(join(cwd, "notes.txt"), "word\n");
    const env = {
      ...providerEnvironment("anthropic", mock.url),
      ...providerEnvironment("openai", mock.url),
      OXBOW_HOME: home,
    };
    const place = { env, cwd };
    // The second call of the turn has a result as its newest message; the input is still that of the person.
    const routed = (stdout: string) =>
      envelopes(stdout).flatMap(({ kind, payload }) => {
        if (kind === "ModelRouted") return [`${payload.rule} ${payload.model}`];
        if (kind === "FailedOver") return [`${payload.from.model} → ${payload.to.model}`];
        return kind === "CostIncremented" ? [`paid ${payload.provider}:${payload.model}`] : [];
      });
    const plain = await oxbow(["run", "hello there"], place);
    expect(plain).toMatchObject({ code: 0, stdout: "small here\n" });
    expect(plain.stderr).toContain("openai:small answers (@smart: default).");
    const failing = await oxbow(["run", "break it", "--continue", "--retry-wait", "0", "--stream-events"], place);
    expect(routed(failing.stdout)).toEqual(["rule 2 broken", "broken → small", "paid openai:small"]);
    const first = await oxbow(["run", "look at it", "--stream-events"], place);
    expect(routed(first.stdout).slice(0, 2)).toEqual(["first eyes", "paid anthropic:eyes"]);
    const again = await oxbow(["run", "look again", "--continue", "--stream-events"], place);
    expect(routed(again.stdout)).toEqual(["default small", "paid openai:small"]);
    const listed = await oxbow(["route", "list"], place);
    expect(listed.stdout).toContain("first: anthropic:eyes  turn_under 2, text *look*");
  });
});

describe("routes", () => {
  verifies(
    ["M8", "U1"],
    "@name sends one turn there, the session keeps its model, and a chain fails over",
    async () => {
      const mock = await mockModel(BY_MODEL);
      const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
      await mkdir(join(home, "config"), { recursive: true });
      await writeFile(
        join(home, "config", "config.toml"),
        'model = "anthropic:big"\n[routes.fast]\nmodel = "openai:small"\n[routes.main]\nchain = ["anthropic:broken", "openai:small"]\n',
      );
      const env = {
        ...providerEnvironment("anthropic", mock.url),
        ...providerEnvironment("openai", mock.url),
        OXBOW_HOME: home,
      };
      const input =
        "@fast one\ntwo\n\\@fast three\n/route add own anthropic:broken openai:small\n@own four\n/route remove fast\n/route disable fast\n@fast five\n";
      const { stdout, stderr } = await oxbow(["--plain", "--retry-wait", "0"], { env, input, cwd });
      expect(stdout).toMatch(/^small here\nbig here\nbig here\n@own asks .*\nsmall here\n@fast is off\.\nbig here\n$/s);
      expect(stderr).toContain("@fast is in the profile");
      const asked = mock.requests.map(({ body }) => {
        const { model, messages } = body as unknown as {
          model: string;
          messages: { role: string; content: unknown }[];
        };
        return [model, JSON.stringify(messages.findLast(({ role }) => role === "user")?.content)] as const;
      });
      expect(asked.map(([model]) => model)).toEqual(["small", "big", "big", "broken", "small", "big"]);
      expect(asked[0]?.[1]).not.toContain("@fast");
      expect(asked[2]?.[1]).toContain("@fast three");
      expect(asked[5]?.[1]).toContain("@fast five");
      const listed = await oxbow(["session", "list"], { env, cwd });
      expect(listed.stdout).toContain("anthropic:big");

      const chain = await oxbow(["run", "go", "--model", "@main", "--retry-wait", "0", "--stream-events"], {
        env,
        cwd,
      });
      const events = envelopes(chain.stdout);
      expect(events.find(({ kind }) => kind === "FailedOver")?.payload).toMatchObject({
        route: "main",
        from: { model: "broken" },
        to: { provider: "openai", model: "small" },
      });
      const paid = events.flatMap(({ kind, payload }) => (kind === "CostIncremented" ? [payload] : []));
      expect(paid).toMatchObject([{ provider: "openai", model: "small", route: "main" }]);
      const again = await oxbow(["run", "more", "--continue", "--retry-wait", "0"], { env, cwd });
      expect(again).toMatchObject({ code: 0, stdout: "small here\n" });
    },
  );

  verifies(["M8"], "oxbow route stores routes, and reports mistakes", async () => {
    const env = { OXBOW_HOME: await temporaryFolder() };
    expect((await oxbow(["route", "add", "fast", "openai:small"], { env })).code).toBe(0);
    expect((await oxbow(["route", "list"], { env })).stdout).toBe("@fast  openai:small\n");
    const wrong = await oxbow(["route", "remove", "fsat"], { env });
    expect(wrong).toMatchObject({ code: 2, stderr: "oxbow: There is no route @fsat. Did you mean @fast?\n" });
    expect((await oxbow(["run", "hi", "--model", "@nope"], { env })).code).toBe(6);
  });
});
