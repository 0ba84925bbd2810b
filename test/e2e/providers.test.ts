import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
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

const PARROT = new URL("../../examples/providers/parrot.mjs", import.meta.url);

/** A home with providers of its own: a variant, one with a mistake, a program, and one in the profile. */
async function home(url: string): Promise<string> {
  const made = await temporaryFolder();
  const folder = join(made, "config", "providers");
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "acme.conf"),
    `protocol=openai\ndescription=Acme's own\nmodel=acme-1\nurl=${url}/v1/chat/completions\nauth_env=ACME_KEY\nmax_tokens=777\nstream=always\n`,
  );
  await writeFile(join(folder, "wrong.conf"), "protocol=openai\nmodle=x\n");
  await copyFile(PARROT, join(folder, "parrot.mjs"));
  await chmod(join(folder, "parrot.mjs"), 0o755);
  await writeFile(
    join(made, "config", "config.toml"),
    `[providers.box]\nprotocol = "anthropic"\nurl = "${url}"\nmodel = "claude-x"\nauth_env = "BOX_KEY"\nheaders = { X-Team = "blue" }\n\n[providers.groq]\nurl = "${url}/v1"\nauth_env = "OUR_GROQ_KEY"\n`,
  );
  return made;
}

describe("providers of the user's own", () => {
  verifies(["M3", "M4"], "come from .conf files and the profile, with key, limit and headers", async () => {
    const mock = await mockModel("reply times=any\n  text: hi there\n");
    const env = {
      OXBOW_HOME: await home(mock.url),
      ACME_KEY: sampleKey(),
      OUR_GROQ_KEY: sampleKey(),
      BOX_KEY: sampleKey(),
    };
    for (const args of [
      ["--provider", "acme"],
      ["--model", "box"],
      ["--model", "groq:fast"],
    ]) {
      expect((await oxbow(["run", ...args, "hello"], { env })).stdout).toBe("hi there\n");
    }
    const [acme, box, groq] = mock.requests;
    expect(acme).toMatchObject({
      wire: "openai",
      path: "/v1/chat/completions",
      body: { model: "acme-1", max_tokens: 777 },
    });
    expect(acme?.headers.authorization).toBeDefined();
    expect(box).toMatchObject({ wire: "anthropic", body: { model: "claude-x" }, headers: { "x-team": "blue" } });
    expect(groq).toMatchObject({ body: { model: "fast" } });
    expect(mock.failures).toEqual([]);
  });

  verifies(["M2", "M4", "M5"], "are listed: programs too, and what is wrong with a file by its line", async () => {
    const mock = await mockModel("reply times=any\n  text: hi\n");
    const OXBOW_HOME = await home(mock.url);
    const { stdout } = await oxbow(["models"], { env: { OXBOW_HOME } });
    expect(stdout).toMatch(/\n {2}acme +run 'oxbow auth set acme', or set ACME_KEY\n/);
    expect(stdout).toMatch(/\n {2}wrong +\S+wrong\.conf:2: there is no field "modle"\. Did you mean model\?/);
    expect(stdout).toMatch(/parrot: Parrot: repeats .*\n {2}parrot:grey +8k context/);
    expect(stdout).toMatch(/\n {2}box +run 'oxbow auth set box', or set BOX_KEY\n/);
    const doctor = await oxbow(["doctor"], { env: { OXBOW_HOME } });
    expect(doctor.stdout).toMatch(/✗ wrong +\S+wrong\.conf:2/);
    expect(doctor.code).toBe(1);
  });

  verifies(["M2"], "may be programs: chosen by name, and by themselves when nothing else is ready", async () => {
    const env = { OXBOW_HOME: await home("http://127.0.0.1:9") };
    const named = await oxbow(["run", "--provider", "parrot", "polly"], { env });
    expect(named.stdout).toBe("Squawk! polly\n");
    const alone = await oxbow(["run", "polly", "--output-format", "json"], { env });
    expect(alone.code).toBe(0);
    expect(alone.stdout).toContain("Squawk! polly");
  });
});

describe("errors say what to do in one line", () => {
  verifies(
    ["M3", "M5"],
    "a missing key, a refused key, an unknown model, a server that is down, a wrong name",
    async () => {
      const mock = await mockModel("model here\nreply\n  error auth\n");
      const base = providerEnvironment("openai", mock.url);
      const cases = [
        [
          ["--provider", "mistral"],
          {},
          6,
          "No model: mistral needs a key: run 'oxbow auth set mistral', or set MISTRAL_API_KEY",
        ],
        [["--model", "here"], base, 1, "openai refused the key (HTTP 401: Incorrect API key provided"],
        [["--model", "openai:gone"], base, 1, "openai has no model 'gone'. 'oxbow models openai' lists its models."],
        [
          ["--provider", "vllm"],
          {},
          1,
          "Could not reach vllm at http://127.0.0.1:9/v1/models: connection refused. Is it",
        ],
        [["--provider", "mistrul"], {}, 6, "No model: there is no provider 'mistrul'. Did you mean mistral?"],
        [["--model", "qwen"], {}, 6, "No model: no available provider has 'qwen'. 'oxbow models' shows"],
      ] as const;
      for (const [args, env, code, text] of cases) {
        const result = await oxbow(["run", ...args, "hi"], { env });
        expect(result.stderr).toContain(`oxbow: ${text}`);
        expect(result.stderr.trim().split("\n")).toHaveLength(1);
        expect([args, result.code]).toEqual([args, code]);
      }
    },
  );
});

describe("switching in the middle of a session", () => {
  const turn = (name: string) =>
    `reply\n  thinking: ${name} thinks\n  text: ${name} looks.\n  tool read {"path": "a.txt"}\n  tool glob {"pattern": "*"}\nreply\n  expect last-tool-result contains "a.txt"\n  thinking: ${name} thinks again\n  text: ${name} is done.\n`;

  verifies(
    ["M7", "M1"],
    "keeps a conversation with tool calls and thinking valid over four protocols and back",
    async () => {
      const order = ["anthropic", "openai", "gemini", "ollama", "openai-responses", "anthropic"];
      const mock = await mockModel(`model m\n${order.map(turn).join("")}`);
      const cwd = await temporaryFolder();
      await writeFile(join(cwd, "a.txt"), "alpha\n");
      const env = Object.assign(
        { OPENAI_RESPONSES_URL: `${mock.url}/v1` },
        ...(["anthropic", "openai", "gemini", "ollama"] as const).map((wire) => providerEnvironment(wire, mock.url)),
      );
      const input = order.map((name) => `/model ${name}:m\ngo ${name}\n`).join("");
      const { stdout, stderr } = await oxbow(["--plain"], { env, input, cwd });
      expect(mock.failures).toEqual([]);
      expect(stderr).not.toContain("oxbow:");
      for (const name of order) expect(stdout).toContain(`${name} is done.`);
      expect(mock.requests.map((request) => request.wire)).toEqual(order.flatMap((name) => [name, name]));
      const last = JSON.stringify(mock.requests.at(-1)?.body);
      for (const name of order) expect(last).toContain(`${name} looks.`);
      // What another family thought is not shown to this one; its own comes back with its signature.
      expect(last).toContain("anthropic thinks");
      for (const name of ["openai", "gemini", "ollama"]) expect(last).not.toContain(`${name} thinks`);
    },
  );

  verifies(["M7"], "/model shows a menu with numbers, and takes one", async () => {
    const mock = await mockModel("model one\nmodel two\nreply times=any\n  text: hi\n");
    const env = providerEnvironment("openai", mock.url);
    const { stdout, stderr } = await oxbow(["--plain"], { env, input: "/model\n/model 2\nhello\n/model 99\n" });
    expect(stdout).toMatch(/Now: openai:\S+\n\nopenai: .*\n {2}1 {2}openai:one\n {2}2 {2}openai:two\n/);
    expect(stdout).toContain("Model: openai:two, from the next turn on.");
    expect(mock.requests.at(-1)?.body).toMatchObject({ model: "two" });
    expect(stderr).toMatch(/there is no model 99: the list ends at \d+\./);
  });
});
