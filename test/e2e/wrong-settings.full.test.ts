import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment, sampleKey, temporaryFolder } from "../support/program.js";
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

async function homeWith(toml: string, env: Readonly<Record<string, string>> = {}) {
  const home = await temporaryFolder();
  await mkdir(join(home, "config"));
  await writeFile(join(home, "config", "config.toml"), toml);
  return { env: { ...env, OXBOW_HOME: home } };
}

describe("a model that cannot be meant", () => {
  verifies(["M5", "M7"], "is an error that costs nothing; a tag of Ollama is not a provider", async () => {
    const mock = await mockModel("model qwen2.5:7b\nreply times=any\n  text: here\n");
    const hosted = providerEnvironment("openai", mock.url);
    const wrong: readonly (readonly [string, RegExp])[] = [
      ["foo:bar", /no provider 'foo'/],
      ["opneai:gpt-5", /Did you mean openai:gpt-5\?/],
      ["http://127.0.0.1:1/v1", /is an address, not a model/],
    ];
    for (const [model, expected] of wrong) {
      const { code, stderr } = await oxbow(["run", "hi", "--model", model], { env: hosted });
      expect([code, stderr], model).toEqual([6, expect.stringMatching(expected)]);
    }
    expect(mock.requests.filter(({ path }) => path.includes("completions"))).toEqual([]);
    const local = { ANTHROPIC_API_KEY: sampleKey(), ...providerEnvironment("ollama", mock.url) };
    expect((await oxbow(["run", "hi", "--model", "qwen2.5:7b"], { env: local })).stdout).toBe("here\n");
  });

  verifies(["M8"], "is not written down as a route", async () => {
    const home = await temporaryFolder();
    const env = { OXBOW_HOME: home };
    for (const model of ["http://127.0.0.1:1/v1", "nonsense:x"]) {
      expect((await oxbow(["route", "add", "box", model], { env })).code, model).toBe(2);
    }
    expect((await oxbow(["route", "add", "box", "qwen3:8b", "openai:gpt-5"], { env })).code).toBe(0);
    expect((await oxbow(["route", "list"], { env })).stdout).toBe("@box  qwen3:8b → openai:gpt-5\n");
  });
});

describe("an address or folder that cannot be", () => {
  verifies(["U9", "O5"], "a base URL is named with its variable, before anything is sent (2)", async () => {
    const env = { OPENAI_API_KEY: sampleKey(), OPENAI_BASE_URL: "localhost:8080/v1" };
    const { code, stderr } = await oxbow(["run", "hi", "--provider", "openai"], { env });
    expect(stderr).toContain(
      'OPENAI_BASE_URL is not an http or https address: "localhost:8080/v1". Did you mean http:',
    );
    expect(code).toBe(2);
  });

  verifies(["U9"], "OXBOW_HOME fails at once in every command (2)", async () => {
    const file = join(await temporaryFolder(), "file");
    await writeFile(file, "");
    for (const home of [join(file, "below"), file, "/proc/oxbow-home"]) {
      for (const args of [
        ["run", "hi"],
        ["session", "list"],
        ["auth", "list"],
      ]) {
        const { code, stderr } = await oxbow(args, { env: { OXBOW_HOME: home } });
        expect([code, stderr], home).toEqual([
          2,
          expect.stringContaining(`OXBOW_HOME: cannot create the folder ${home}`),
        ]);
      }
    }
  });
});

describe("a profile", () => {
  verifies(["U9", "U10"], "is reported with the place of its mistake (2)", async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['model = "a"\nmax_iterations = = 3\n', /config\.toml, line 2, column \d+ is not valid TOML: /],
      ['[permissions]\nedit = "ask"\n', /permissions: unknown key "edit"/],
      ['[[permissions.rules]]\ntool = "bash"\ndecison = "deny"\n', /rule 1: .*decison/],
      ["schema_version = 2\n", /schema_version is 2, and this Oxbow reads 1/],
      ['schema_version = "1"\n', /schema_version is "1"/],
      ['run_timeout = "soon"\n', /run_timeout\): expected a duration/],
    ];
    for (const [toml, expected] of cases) {
      for (const args of [
        ["run", "hi"],
        ["config", "show"],
      ]) {
        const { code, stderr } = await oxbow(args, await homeWith(toml));
        expect([code, stderr], toml).toEqual([2, expect.stringMatching(expected)]);
      }
    }
    const fine = await oxbow(["config", "show"], await homeWith('schema_version = 1\nmodle = "x"\n'));
    expect([fine.code, fine.stderr]).toEqual([0, expect.stringContaining('Did you mean "model"?')]);
  });

  verifies(["M10", "T6"], "run_timeout bounds commands of the model and of a person", async () => {
    const mock = await mockModel('reply\n  tool bash {"command": "sleep 60"}\nreply\n  text: done\n');
    const env = providerEnvironment("anthropic", mock.url);
    const args = ["--permission-mode", "allow", "--sandbox", "off"];
    const home = await homeWith('run_timeout = "200ms"\n', env);
    const { stdout } = await oxbow(["run", "go", ...args, "--stream-events"], home);
    expect(stdout).toContain("[timed out after");
    const shell = await oxbow(["--plain", "--run-timeout", "0.2s", ...args], { env, input: "!sleep 60\n" });
    expect([shell.code, shell.stdout]).toEqual([1, expect.stringContaining("[timed out after")]);
  });

  verifies(["M10"], "ollama_timeout bounds an answer of a model on this machine, which has no limit else", async () => {
    const mock = await mockModel("model m\nreply times=any\n  text: so far\n  hang\n");
    const env = providerEnvironment("ollama", mock.url);
    const args = ["run", "go", "--model", "ollama:m", "--ollama-timeout", "300ms", "--retry-wait", "0"];
    const { code, stderr } = await oxbow(args, { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining("longer than 300ms, the limit of ollama_timeout")]);
  });
});

describe("a wrong line in config.toml", () => {
  verifies(["U10"], "stops no help: it is said, and the help says what to write instead", async () => {
    const { env } = await homeWith('permission_mod = "ask"\nmax_iterations = "many"\n');
    expect((await oxbow(["run", "hi"], { env })).code).toBe(2);
    for (const [args, shown] of [
      [["--help"], "Flags of a run"],
      [["help", "environment"], "OXBOW_HOME"],
      [["help", "run"], "Usage: oxbow"],
      [["config", "keys"], "max_iterations"],
    ] as const) {
      const { code, stdout, stderr } = await oxbow([...args], { env });
      expect([code, stdout, stderr], args.join(" ")).toEqual([
        0,
        expect.stringContaining(shown),
        expect.stringContaining("config.toml"),
      ]);
    }
  });
});
