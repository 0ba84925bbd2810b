import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel | undefined;
afterEach(() => mock?.close());

async function start(script: string): Promise<string> {
  mock = await startMockModel({ script });
  return mock.url;
}

describe("oxbow bench", () => {
  verifies(["M17"], "asks the installed models the same, and says how fast they were", async () => {
    const url = await start(
      "model small:1b\nmodel nomic-embed-text\nmodel large:70b\nreply\n  text: A river bends.\n  usage input=7 output=5\nloop\n",
    );
    const { code, stdout, stderr } = await oxbow(["bench", "--runs", "2", "--prompt", "Say it", "--json"], {
      env: providerEnvironment("ollama", url),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { models } = JSON.parse(stdout) as { models: { model: string; runs: unknown[]; median: object }[] };
    expect(models.map(({ model, runs }) => [model, runs.length])).toEqual([
      ["ollama:small:1b", 2],
      ["ollama:large:70b", 2],
    ]);
    expect(models[0]?.median).toMatchObject({ prompt_tokens: 7, answer_tokens: 5, total_ms: expect.any(Number) });
    expect(mock?.requests.map(({ body }) => JSON.stringify(body).includes("Say it"))).toEqual([true, true, true, true]);
  });

  verifies(["M17", "U3"], "is a table beside a conversation as well, whose model stays", async () => {
    const url = await start("model small:1b\nreply\n  text: A river bends.\nloop\n");
    const input = "/bench ollama:small:1b nobody:x --max-tokens 9\n/bench --runs 0\n/status\n";
    const env = providerEnvironment("ollama", url);
    const { stdout, stderr } = await oxbow(["--plain", "--provider", "offline"], { env, input });
    expect(stdout).toMatch(/^model +first token +total +prompt +answer +tokens\/s\nollama:small:1b +\d/m);
    expect(stdout).toMatch(/^ollama:nobody:x: ollama has no model/m);
    expect(stderr).toContain("--runs: expected a whole number from 1");
    expect(stdout).toMatch(/^model +offline:offline$/m);
    expect(mock?.requests[0]?.body).toMatchObject({ options: { num_predict: 9 } });
  });

  verifies(["M17"], "shows what it has when it is interrupted, and says when there is nothing to measure", async () => {
    const url = await start("model a\nmodel b\nreply\n  text: Quick.\nreply\n  start\n  delay 60s\n  text: Slow.\n");
    const waiting = mock?.waitForRequest(2);
    const { code, stdout, stderr } = await oxbow(["bench"], {
      env: providerEnvironment("ollama", url),
      onStart: (child) => void waiting?.then(() => child.kill("SIGINT")),
    });
    expect({ code, stderr }).toEqual({ code: 130, stderr: "oxbow: cancelled.\n" });
    expect(stdout).toMatch(/^ollama:a:latest +\d/m);
    expect(stdout).not.toContain("ollama:b");
    const none = await oxbow(["bench"], { cwd: await temporaryFolder() });
    expect(none).toMatchObject({ code: 6, stdout: "" });
    expect(none.stderr).toContain("No model is ready");
  });
});
