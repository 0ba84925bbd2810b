import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished } from "vitest";
import type { EventPayloads } from "../../src/protocol/events.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, sampleKey, temporaryFolder } from "../support/program.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

/** claude-sonnet-4-5: $3 in, $15 out, $0.30 cache read, $3.75 cache write for a million tokens. */
const TWO_CALLS = `
reply
  tool ls {}
  usage input=1000 output=100 cache-read=10000 cache-write=2000
reply
  text: There.
  usage input=2000 output=200
loop
`;
const ONE_CALL = "reply\n  text: Yes.\n  usage input=1500 output=200\nloop\n";
const FIRST_CALL = 0.003 + 0.0015 + 0.003 + 0.0075;
const SECOND_CALL = 0.009;

async function scene(script: string, profile?: string) {
  const mock = await startMockModel({ script });
  mocks.push(mock);
  const home = await temporaryFolder();
  const cwd = await temporaryFolder();
  if (profile !== undefined) {
    await mkdir(join(home, "config"), { recursive: true });
    await writeFile(join(home, "config", "config.toml"), profile);
  }
  // The prices below are those of this model; the default model changes with the catalogue.
  const env = {
    ...providerEnvironment("anthropic", mock.url),
    OXBOW_HOME: home,
    OXBOW_MODEL: "anthropic:claude-sonnet-4-5",
  };
  const run = (args: readonly string[], more: { input?: string; env?: Record<string, string> } = {}) =>
    oxbow(args, { cwd, ...more, env: { ...env, ...more.env } });
  return { mock, run, home, cwd };
}

function jsonOf(stdout: string) {
  return JSON.parse(stdout) as {
    total: { usd: number | null; unpriced: number; calls: number };
    lines: { name: string; usd: number | null; calls: number }[];
  };
}

/** More than the budget of a day has room for. */
const RUNS = times(7, 10);

describe("costs", () => {
  verifies(["M14"], "are reported with every call, for a session and over all of them", async () => {
    const { run, mock, cwd } = await scene(TWO_CALLS);
    const events = envelopes((await run(["run", "look", "--stream-events"])).stdout);
    const costs = events.flatMap((event) => (event.kind === "CostIncremented" ? [event.payload.cost] : []));
    expect(costs[0]).toEqual({ usd: FIRST_CALL, input: 0.003, output: 0.0015, cache_read: 0.003, cache_write: 0.0075 });
    expect(costs.map((cost) => cost?.usd)).toEqual([FIRST_CALL, SECOND_CALL]);
    // Another server behind openai's name: its prices are unknown.
    const foreign = providerEnvironment("openai", mock.url);
    const session = await run(["--plain", "-c", "--model", "openai:gpt-5"], { input: "again\n/cost\n", env: foreign });
    expect(session.stdout).toMatch(/This session: ≥ \$0\.0240 · [\d,]+ in · 600 out · 4 calls/);
    expect(session.stdout).toMatch(/anthropic:claude-sonnet-4-5 +2 +3,000 +10,000 +2,000 +300 +\$0\.0240\n/);
    expect(session.stdout).toMatch(/openai:gpt-5 +2 .*unknown\n/);
    expect(session.stdout).toContain(
      "anthropic:claude-sonnet-4-5: input 3, output 15, cache read 0.3, cache write 3.75",
    );
    const byModel = jsonOf((await run(["cost", "--json"])).stdout);
    expect(byModel.total).toMatchObject({ usd: FIRST_CALL + SECOND_CALL, calls: 4, unpriced: 2 });
    expect(byModel.lines.map(({ name, usd }) => [name, usd])).toEqual([
      ["anthropic:claude-sonnet-4-5", FIRST_CALL + SECOND_CALL],
      ["openai:gpt-5", null],
    ]);
    const byProject = await run(["cost", "--by", "project", "--since", "today"]);
    expect(byProject.stdout).toContain(cwd);
    expect(byProject.stdout).toContain(
      "No price is known for 2 of the calls (openai:gpt-5): they are not in the sums.",
    );
    const wrong = await run(["cost", "--by", "week"]);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      'oxbow: --by: expected model, provider, day, project, session, variant, got "week".\n',
    ]);
  });

  verifies(["M14"], "a branch does not spend again what it copied; files are counted as the database is", async () => {
    const { run } = await scene(TWO_CALLS, 'store = "files"\n');
    const id = envelopes((await run(["run", "look", "--stream-events"])).stdout)[0]?.session ?? "";
    expect((await run(["session", "branch", id])).code).toBe(0);
    const { total, lines } = jsonOf((await run(["cost", "--by", "day", "--json"])).stdout);
    expect(total).toMatchObject({ usd: FIRST_CALL + SECOND_CALL, calls: 2, unpriced: 0 });
    expect(lines).toHaveLength(1);
  });
});

describe("budgets", () => {
  verifies(
    ["M14", "L4"],
    "stop before a call that could cost more, with exit code 3 and the way to raise them",
    async () => {
      const { run, mock } = await scene(TWO_CALLS);
      const { code, stdout, stderr } = await run(["run", "look", "--budget", "0.018", "--output-format", "json"]);
      const ended = JSON.parse(stdout) as EventPayloads["TurnEnded"];
      expect([code, ended.outcome, ended.failure?.reason]).toEqual([3, "limit", "BudgetReached"]);
      expect(stderr).toMatch(
        /^oxbow: Stopped by the budget of this run, \$0\.0180: \$0\.0150 of it is spent and the next model call needs \$0\.\d+ or more\. Raise it with --budget or \/budget\.\n$/,
      );
      // One call was made, and it could not have written more than was left.
      expect(mock.requests).toHaveLength(1);
      const { max_tokens } = (mock.requests[0]?.body ?? {}) as { max_tokens?: number };
      expect(max_tokens).toBeGreaterThan(256);
      expect(max_tokens).toBeLessThan(0.018 / 15e-6);
      const wrong = await run(["run", "look", "--budget", "plenty"]);
      expect([wrong.code, wrong.stderr]).toEqual([
        2,
        expect.stringContaining("--budget: expected an amount such as 0.50"),
      ]);
    },
  );

  verifies(["M14"], "an answer that the budget cut off is reported", async () => {
    const { run } = await scene("reply\n  text: The beginning of\n  stop length\n  usage input=1000 output=300\n");
    const { code, stdout, stderr } = await run(["run", "tell", "--budget", "0.02"]);
    expect([code, stdout]).toEqual([3, "The beginning of\n"]);
    expect(stderr).toContain("this run, $0.0200: the answer used the rest of it. Raise it with --budget");
  });

  verifies(["M14"], "of a day are shared by runs, of a session by its runs; both name their setting", async () => {
    const { run } = await scene(ONE_CALL, 'budget_day = 0.02\nbudget_session = "3k tokens"\n');
    expect((await run(["run", "one"])).code).toBe(0);
    const again = await run(["run", "two", "-c"]);
    expect(again.code).toBe(3);
    expect(again.stderr).toMatch(
      /budget of this session, 3,000 tokens: 1,700 tokens .*Raise it with budget_session in .*config\.toml/,
    );
    await run(["run", "three"]);
    const { code, stderr } = await run(["run", "four"]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/budget of this day, \$0\.0200: \$0\.0150 of it is spent .*budget_day in/);
    const config = await run(["config", "show"]);
    expect(config.stdout).toMatch(/budget_day +\$0\.0200 +.*\(budget_day\)/);
  });

  verifies(
    ["M14"],
    `of a day hold for ${RUNS} processes that run at the same time`,
    async () => {
      const { run, mock } = await scene(ONE_CALL.replace("reply\n", "reply\n  delay 200ms\n"), "budget_day = 0.04\n");
      const prompts = Array.from({ length: RUNS }, (_, i) => `prompt ${i}`);
      const results = await Promise.all(prompts.map((prompt) => run(["run", prompt])));
      // Each call costs 0.0075. Those that find the rest held wait for it; so all that fit are made, and none more.
      const paid = results.filter(({ code }) => code === 0).length;
      expect(results.filter(({ code }) => code === 3)).toHaveLength(RUNS - paid);
      expect(mock.requests).toHaveLength(paid);
      expect(paid).toBeGreaterThanOrEqual(3);
      const { total } = jsonOf((await run(["cost", "--json"])).stdout);
      expect(total).toMatchObject({ calls: paid, usd: expect.closeTo(0.0075 * paid, 9) });
      expect(total.usd).toBeLessThanOrEqual(0.04);
    },
    60_000,
  );

  verifies(["M14"], "of a day count the reservation of a killed process as spent if nothing is stored", async () => {
    const { run, mock, home, cwd } = await scene("reply\n  text: so far\n  hang\n", 'budget_day = "30k tokens"\n');
    const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home };
    await oxbow(["run", "--stream-events", "--store", "none", "one"], {
      cwd,
      env,
      onOutput: (all, child) => void (all.stdout.includes("so far") && child.kill("SIGKILL")),
    });
    const { code, stderr } = await run(["run", "two"]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/budget of this day, 30,000 tokens: \d\d,\d\d\d tokens of it is spent/);
    expect(mock.requests).toHaveLength(1);
  });

  verifies(["M14", "L9"], "count the streamed part of a cancelled answer", async () => {
    const { mock, run, home, cwd } = await scene("reply\n  text: so far and a few words more\n  hang\n");
    const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home };
    let pressed = false;
    const { stdout } = await oxbow(["run", "--stream-events", "one"], {
      cwd,
      env,
      onOutput: (all, child) => {
        if (!pressed && all.stdout.includes("more")) pressed = child.kill("SIGINT");
      },
    });
    const paid = envelopes(stdout).find(({ kind }) => kind === "CostIncremented");
    const { usage, cost } = (paid?.payload ?? {}) as EventPayloads["CostIncremented"];
    expect(usage.output).toBeGreaterThanOrEqual(6);
    expect(usage.input).toBeGreaterThan(1000);
    expect(cost?.usd).toBeGreaterThan(0.003);
    const { total } = jsonOf((await run(["cost", "--json"])).stdout);
    expect(total, stdout).toMatchObject({ calls: 1, usd: cost?.usd });
  });

  verifies(["M14"], "in dollars refuse a model without a known price, in tokens they do not", async () => {
    const { run, mock } = await scene(TWO_CALLS);
    const env = { ...providerEnvironment("openai", mock.url), OXBOW_MODEL: "openai:gpt-5" };
    const dollars = await run(["run", "look", "--budget", "5"], { env });
    expect(dollars.code).toBe(2);
    expect(dollars.stderr).toContain('[models."openai:gpt-5"] price_input, price_output');
    expect(mock.requests).toHaveLength(0);
    expect((await run(["run", "look", "--budget", "900k tokens"], { env })).code).toBe(0);
  });
});

/** Speaks as OpenRouter does: it lists prices, and says what each call has cost. */
async function openRouter(): Promise<string> {
  const pricing = { prompt: "0.000001", completion: "0.000002" };
  const server = createServer((request, response) => {
    if (request.method === "GET") return response.end(JSON.stringify({ data: [{ id: "acme/new:nitro", pricing }] }));
    const choice = { index: 0, delta: { content: "There." }, finish_reason: "stop" };
    const usage = { prompt_tokens: 3000, completion_tokens: 100, cost: 0.017_433 };
    const frames = [{ choices: [choice] }, { choices: [], usage }].map((each) => `data: ${JSON.stringify(each)}\n\n`);
    response.setHeader("content-type", "text/event-stream").end(`${frames.join("")}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

describe("costs of a turn with several models", () => {
  const FAILS_LATER =
    'reply\n  tool bash {"command": "sleep 0.3"}\n  usage input=1000 output=100 cache-read=10000 cache-write=2000\nreply\n  error 503 overloaded "no"\nreply\n  error 503 overloaded "no"\n';

  verifies(
    ["M14", "M15"],
    "are split by model after a failover, with what the provider charged, and sums without noise",
    async () => {
      const profile = '[routes.main]\nchain = ["anthropic:claude-sonnet-4-5", "openrouter:acme/new:nitro"]\n';
      const { run } = await scene(FAILS_LATER, profile);
      const env = { OPENROUTER_API_KEY: sampleKey(), OPENROUTER_BASE_URL: await openRouter() };
      const args = ["look at it", "--model", "@main", "--retry-wait", "0", "--permission-mode", "allow"];
      const { stdout, stderr } = await run(["run", ...args, "--output-format", "json", "--verbose"], { env });
      expect(JSON.parse(stdout)).toMatchObject({
        text: "There.",
        cost: { usd: 0.032_433 },
        by_model: [
          { provider: "anthropic", model: "claude-sonnet-4-5", calls: 1, cost: { usd: 0.015 } },
          { provider: "openrouter", model: "acme/new:nitro", calls: 1, cost: { usd: 0.017_433 } },
        ],
      });
      expect(stdout).toContain('"usd": 0.032433,');
      expect(stderr).toContain("$0.0324 (anthropic:claude-sonnet-4-5 $0.0150 · openrouter:acme/new:nitro $0.0174)");
      // The command slept: its time is part of the turn's.
      expect(Number(/ ([\d.]+) s · /.exec(stderr)?.[1])).toBeGreaterThanOrEqual(0.3);
      const all = await run(["cost", "--json"]);
      expect(all.stdout).toContain('"usd": 0.032433,');
    },
  );

  verifies(["M14"], "a budget in dollars uses the prices that OpenRouter lists", async () => {
    const { run } = await scene(ONE_CALL);
    const env = { OPENROUTER_API_KEY: sampleKey(), OPENROUTER_BASE_URL: await openRouter() };
    const args = ["run", "look at it", "--model", "openrouter:acme/new:nitro", "--budget"];
    expect(await run([...args, "1"], { env })).toMatchObject({ code: 0, stdout: "There.\n" });
    const refused = await run([...args, "0.000001"], { env });
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("Stopped by the budget of this run") });
    const listed = await run(["models", "openrouter", "--json"], { env });
    expect(listed.stdout).toMatch(/"price": \{\s*"input": 1,\s*"output": 2/);
  });
});

describe("facts about models", () => {
  verifies(
    ["M16", "M14"],
    "warn when the conversation is about to fill the window, and say what can be done",
    async () => {
      const profile =
        'compact_at = "off"\n[models."anthropic:claude-sonnet-4-5"]\ncontext = 15000\nprice_input = 0\nprice_output = 1\n';
      const { run } = await scene(TWO_CALLS, profile);
      const env = { OXBOW_STREAM: "1" };
      const { stdout, stderr } = await run(["--plain"], {
        input: "look\n/cost\n/budget 1\n/budget off\n/budget x\n",
        env,
      });
      expect(stderr).toContain(
        "oxbow: the conversation fills 87 % of the context window of anthropic:claude-sonnet-4-5 (13,100 of 15,000 tokens). Shorten it (/compact), start a new one (/clear)",
      );
      expect(stderr.match(/the conversation fills/g)).toHaveLength(1);
      expect(stdout).toContain("anthropic:claude-sonnet-4-5: input 0, output 1 (your profile)");
      expect(stdout).toContain("this run: $1.00, $0.0003 spent\nNo budget is set.");
      expect(stderr).toContain("Use /budget 0.50, /budget 200k tokens or /budget off.");
      const broken = await run(["run", "look"], {
        env: { OXBOW_PROFILE: await profileWith('[models."gpt"]\ncontext = 1\n') },
      });
      expect([broken.code, broken.stderr]).toEqual([
        2,
        expect.stringContaining('[models."gpt"]: expected PROVIDER:NAME'),
      ]);
    },
  );

  verifies(["M14"], "are fetched again by 'oxbow models --refresh'", async () => {
    const model = {
      limit: { context: 9000, output: 900 },
      cost: { input: 1, output: 1 },
      modalities: { input: ["text"], output: ["text"] },
    };
    const models = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`claude-${i}`, model]));
    const server = createServer((_request, response) => response.end(JSON.stringify({ anthropic: { models } })));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { run, home } = await scene("reply\n  text: x\n  usage input=1000000 output=1\n");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const env = { OXBOW_CATALOGUE_URL: url };
      const refreshed = await run(["models", "--refresh"], { env });
      expect(refreshed.stderr).toContain("30 models of 1 providers are known now");
      expect(await readFile(join(home, "cache", "models.txt"), "utf8")).toContain("claude-7 9k 900 1 1 - - -");
      const events = envelopes((await run(["run", "x", "--model", "claude-7", "--stream-events"])).stdout);
      const told = events.find((event) => event.kind === "CostIncremented");
      expect(told?.payload).toMatchObject({ cost: { usd: 1.000001 } });
    } finally {
      server.close();
    }
  });
});

async function profileWith(text: string): Promise<string> {
  const file = join(await temporaryFolder(), "profile.toml");
  await writeFile(file, text);
  return file;
}
