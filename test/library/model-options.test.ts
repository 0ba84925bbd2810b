import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { Harness, type HarnessTool } from "../../src/library/index.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { sampleKey } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel | undefined;
let folder: string | undefined;
afterEach(async () => {
  await mock?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

verifies(["M18", "L13"], "a program's prompts are recorded and replayed, its tools really run", async () => {
  mock = await startMockModel({ script: script([reply().tool("clock", {}), reply().text("It is noon.")]) });
  folder = await mkdtemp(join(tmpdir(), "oxbow-test-"));
  const file = join(folder, "tape.jsonl");
  let ran = 0;
  const clock: HarnessTool = {
    name: "clock",
    description: "tells the time",
    inputSchema: { type: "object" },
    execute: () => `12:0${ran++ > 1 ? 1 : 0}`,
  };
  const first = new Harness({ apiKey: sampleKey(), baseUrl: mock.url, record: file }, [clock]);
  expect((await first.prompt("How late is it?")).text).toBe("It is noon.");
  await mock.close();

  const again = new Harness({ apiKey: undefined, replay: file }, [clock]);
  expect((await again.prompt("How late is it?")).text).toBe("It is noon.");
  expect(again.cassetteReport()).toBeUndefined();
  expect(ran).toBe(2);

  const other = new Harness({ apiKey: undefined, replay: file }, [clock]);
  await expect(other.prompt("How late is it?")).rejects.toMatchObject({ failure: { reason: "CassetteMismatch" } });
  expect(other.cassetteReport()).toContain("12:01");

  const over = new Harness({ apiKey: sampleKey(), record: file }, []);
  await expect(over.prompt("again")).rejects.toMatchObject({ failure: { reason: "ConfigurationInvalid" } });
});

verifies(
  ["M1", "L13"],
  "audio of a prompt reaches a model that takes it, and another one refuses it by name",
  async () => {
    mock = await startMockModel({ script: script([reply().text("A bell.")]) });
    const place = { apiKey: sampleKey(), baseUrl: `${mock.url}/v1`, provider: "openai" };
    const audio = [{ media_type: "audio/mpeg", data: "SUQzBAAA" }];
    const harness = new Harness({ ...place, model: "gpt-audio" }, []);
    expect((await harness.prompt("What is it?", { audio })).text).toBe("A bell.");
    expect(JSON.stringify(mock.requests[0]?.body)).toContain(
      '{"type":"input_audio","input_audio":{"data":"SUQzBAAA","format":"mp3"}}',
    );
    const other = new Harness({ apiKey: sampleKey(), baseUrl: mock.url, model: "claude-haiku-4-5" }, []);
    await expect(other.prompt("What is it?", { audio })).rejects.toThrow(/claude-haiku-4-5 cannot hear the audio/);
    expect(mock.requests).toHaveLength(1);
  },
);

verifies(["M1", "L13"], "images and the effort of a prompt reach the model", async () => {
  mock = await startMockModel({ script: script([reply().text("A cat.")]) });
  const harness = new Harness({ apiKey: sampleKey(), baseUrl: mock.url, model: "claude-opus-5", effort: "high" }, []);
  const images = [{ media_type: "image/png", data: "iVBORw0KGgo=" }];
  expect((await harness.prompt("What is it?", { images })).text).toBe("A cat.");
  const source = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" };
  expect(mock.requests[0]?.body).toMatchObject({
    output_config: { effort: "high" },
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source },
          { type: "text", text: "What is it?" },
        ],
      },
    ],
  });
  expect(() => new Harness({ apiKey: sampleKey(), effort: "huge" as "high" }, [])).toThrow(/effort must be/);
});

verifies(
  ["M14", "L13"],
  "a budget in the command line's words stops a program's prompts, and says what they cost",
  async () => {
    const answers = Array.from({ length: 3 }, () => reply().text("Yes.").usage({ input: 900, output: 100 }));
    mock = await startMockModel({ script: script(answers) });
    const place = { apiKey: sampleKey(), baseUrl: mock.url, model: "claude-sonnet-4-5" };
    const harness = new Harness({ ...place, budget: "1500 tokens" }, []);
    const first = await harness.prompt("Is it?");
    expect(first).toMatchObject({ outcome: "answered", text: "Yes." });
    expect(first.usd).toBeCloseTo((900 * 3 + 100 * 15) / 1e6, 9);
    const second = await harness.prompt("Still? ".repeat(400));
    expect(second).toMatchObject({ outcome: "limit", stoppedBy: { reason: "BudgetReached" } });
    expect(second.stoppedBy?.message).toMatch(
      /^Stopped by the budget of this harness, 1,500 tokens: 1,000 tokens of it is spent .* Raise it with the option budget\.$/,
    );
    expect(mock.requests).toHaveLength(1);

    const small = new Harness({ ...place, budgetTurn: "0.0001" }, []);
    expect((await small.prompt("Is it?")).stoppedBy?.message).toContain("the option budgetTurn");

    const other = { ...place, baseUrl: `${mock.url}/v1`, provider: "openai", model: "gpt-5", budget: "$1" };
    await expect(new Harness(other, []).prompt("Is it?")).rejects.toThrow(
      /price of openai:gpt-5 .* with the option price/,
    );
    const priced = new Harness({ ...other, price: { input: 1, output: 10 } }, []);
    expect((await priced.prompt("Is it?")).usd).toBeCloseTo((900 + 1000) / 1e6, 9);

    for (const wrong of [{ budget: "200k" }, { budgetTurn: "much" }, { price: { input: -1, output: 1 } }]) {
      expect(() => new Harness({ ...place, ...wrong }, [])).toThrow(/must be/);
    }
  },
);
