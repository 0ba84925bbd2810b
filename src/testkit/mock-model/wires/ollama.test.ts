import { afterEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../base/clock.js";
import { askOllama, jsonLines, probe } from "../http-probe.js";
import { type MockModel, type MockModelOptions, startMockModel } from "../server.js";

let mock: MockModel;

async function start(script: string, options: Partial<MockModelOptions> = {}): Promise<string> {
  mock = await startMockModel({ script, seed: 1, ...options });
  return mock.url;
}

afterEach(() => mock.close());

const SCRIPT = `
reply
  thinking: Hm.
  text: I will look.
  tool read {"path": "a.txt"}
  tool list
  usage input=10 output=20
`;

const STAMP = "2026-01-01T00:00:00.000Z";

describe("a stream", () => {
  it("is a line for each delta, and the counts at the end", async () => {
    const answer = await askOllama(await start(SCRIPT, { clock: new ManualClock() }));
    expect(answer.headers["content-type"]).toBe("application/x-ndjson");
    const head = { model: "mock-model", created_at: STAMP };
    const said = (fields: object) => ({ ...head, message: { role: "assistant", content: "", ...fields }, done: false });
    const call = (index: number, name: string, args: object) =>
      said({ tool_calls: [{ id: expect.stringMatching(/^call_\w{8}$/), function: { index, name, arguments: args } }] });
    expect(jsonLines(answer.text)).toEqual([
      said({ thinking: "Hm." }),
      said({ content: "I" }),
      said({ content: " will" }),
      said({ content: " look." }),
      call(0, "read", { path: "a.txt" }),
      call(1, "list", {}),
      {
        ...head,
        message: { role: "assistant", content: "" },
        done: true,
        done_reason: "stop",
        total_duration: 1_000_001,
        load_duration: 1_000_000,
        prompt_eval_count: 10,
        prompt_eval_duration: 1_000_000,
        eval_count: 20,
        eval_duration: 1,
      },
    ]);
  });

  it("keeps the order of fields", async () => {
    const { text } = await askOllama(await start("reply\n  text: Hi", { clock: new ManualClock() }));
    expect(text.split("\n")[0]).toBe(
      `{"model":"mock-model","created_at":"${STAMP}","message":{"role":"assistant","content":"Hi"},"done":false}`,
    );
  });

  it("is an error line when something goes wrong in the middle", async () => {
    const { text } = await askOllama(await start("reply\n  text: a\n  error server"));
    expect(jsonLines(text).at(-1)).toEqual({ error: "an error was encountered while running the model" });
  });

  it("ends when the model's arguments are not JSON, as the server cannot pass them on", async () => {
    const url = await start('reply times=2\n  text: a\n  tool read raw: {"path": "a');
    expect(jsonLines((await askOllama(url)).text).at(-1)).toEqual({
      error: `error parsing tool call: raw='{"path": "a', err=unexpected end of JSON input`,
    });
    expect((await askOllama(url, { stream: false })).status).toBe(500);
  });

  it("stops for length", async () => {
    const { text } = await askOllama(await start("reply\n  text: Hi\n  stop length"));
    expect(text).toContain('"done_reason":"length"');
  });
});

it("answers in one piece without a stream", async () => {
  const answer = await askOllama(await start(SCRIPT), { stream: false });
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(JSON.parse(answer.text)).toMatchObject({
    message: {
      role: "assistant",
      content: "I will look.",
      thinking: "Hm.",
      tool_calls: [{ function: { name: "read", arguments: { path: "a.txt" } } }, { function: { name: "list" } }],
    },
    done: true,
    prompt_eval_count: 10,
    eval_count: 20,
  });
});

it("counts no more of the prompt than the context holds", async () => {
  const url = await start("reply times=any\n  text: Hi");
  const counted = async (content: string, options: object) => {
    const { text } = await askOllama(url, { messages: [{ role: "user", content }], options });
    return (jsonLines(text).at(-1) as { prompt_eval_count: number }).prompt_eval_count;
  };
  expect(await counted("x".repeat(40_000), {})).toBe(4096);
  expect(await counted("x".repeat(40_000), { num_ctx: 8192 })).toBe(8192);
  expect(await counted("x".repeat(40_000), { num_ctx: 16_384 })).toBeLessThan(10_100);
});

describe("lookups", () => {
  const MODELS = "model small:1b context=2048 capabilities=completion\nmodel large\nreply\n  text: hi";

  it("lists the models", async () => {
    const { models } = JSON.parse((await probe(`${await start(MODELS)}/api/tags`)).text);
    expect(models.map(({ name }: { name: string }) => name)).toEqual(["small:1b", "large:latest"]);
    expect(models[0]).toMatchObject({ model: "small:1b", details: { format: "gguf" } });
  });

  it("shows what a model can do", async () => {
    const url = await start(MODELS);
    const show = async (model: string) => JSON.parse((await probe(`${url}/api/show`, { body: { model } })).text);
    expect(await show("small:1b")).toMatchObject({
      capabilities: ["completion"],
      model_info: { "general.architecture": "mock", "mock.context_length": 2048 },
    });
    expect((await show("large")).capabilities).toContain("tools");
    expect(await show("none")).toEqual({ error: "model 'none' not found" });
  });

  it("is running, and has a version", async () => {
    const url = await start(MODELS);
    expect((await probe(url)).text).toBe("Ollama is running");
    expect((await probe(url, { method: "HEAD" })).status).toBe(200);
    expect(JSON.parse((await probe(`${url}/api/version`)).text)).toEqual({ version: expect.stringMatching(/^\d/) });
    expect(await probe(`${url}/api/nothing`)).toMatchObject({ status: 404, text: "404 page not found" });
  });

  it("only loads the model when there are no messages", async () => {
    const url = await start("reply\n  text: hi");
    expect(JSON.parse((await askOllama(url, { messages: [] })).text)).toMatchObject({
      done: true,
      done_reason: "load",
    });
    expect((await askOllama(url, { messages: [], keep_alive: 0 })).text).toContain('"unload"');
    expect(mock.unusedReplies).toBe(1);
  });
});

describe("refusals", () => {
  const tools = [{ type: "function", function: { name: "read" } }];
  const callWith = (args: unknown) => [
    { role: "user", content: "a" },
    { role: "assistant", content: "", tool_calls: [{ function: { name: "read", arguments: args } }] },
    { role: "tool", content: "ok" },
  ];

  it.each<[string, object, number, string]>([
    ["a model that is not there", { model: "llama3.2" }, 404, "model 'llama3.2' not found"],
    ["no model", { model: "" }, 400, "model is required"],
    [
      "tools for a model without",
      { model: "plain", tools },
      400,
      "registry.ollama.ai/library/plain:latest does not support tools",
    ],
    ["thinking for a model without", { model: "plain", think: true }, 400, '"plain" does not support thinking'],
    ["arguments as text", { messages: callWith("{}") }, 400, "cannot unmarshal string"],
  ])("%s", async (_, fields, status, message) => {
    const url = await start("model mock-model\nmodel plain capabilities=completion\nreply\n  text: hi");
    const answer = await askOllama(url, fields);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toEqual({ error: expect.stringContaining(message) });
    expect(mock.failures).toMatchObject([{ kind: "refused" }]);
  });

  it("but not arguments as an object, nor the tag latest", async () => {
    const url = await start("reply\n  text: hi");
    const answer = await askOllama(url, {
      model: "mock-model:latest",
      messages: callWith({ path: "a" }),
      tools,
      think: true,
    });
    expect(answer.status).toBe(200);
  });

  it("needs no key", async () => {
    expect((await askOllama(await start("reply\n  text: hi", { key: "right" }))).status).toBe(200);
  });

  it("a body that is missing or not JSON", async () => {
    const url = await start("reply\n  text: hi");
    expect((await probe(`${url}/api/chat`, { method: "POST" })).text).toContain("missing request body");
    expect((await probe(`${url}/api/chat`, { body: "[" })).status).toBe(400);
  });
});

describe("the models on the disk and in memory", () => {
  const get = async (url: string, path: string) => JSON.parse((await probe(`${url}${path}`)).text);

  it("are loaded by a call, with the context it asks for", async () => {
    const url = await start("model a context=8192\nreply times=any\n  text: hi");
    expect(await get(url, "/api/ps")).toEqual({ models: [] });
    await askOllama(url, { model: "a", options: { num_ctx: 6000 } });
    expect((await get(url, "/api/ps")).models).toMatchObject([{ name: "a:latest", context_length: 6000 }]);
    await askOllama(url, { model: "a", options: { num_ctx: 100_000 } });
    expect((await get(url, "/api/ps")).models).toMatchObject([{ context_length: 8192 }]);
  });

  it("are there after a pull, and not before", async () => {
    const url = await start("model b:1 installed=no size=100\nreply\n  text: hi");
    expect((await askOllama(url, { model: "b:1" })).status).toBe(404);
    const pulled = await probe(`${url}/api/pull`, { body: JSON.stringify({ model: "b:1" }) });
    const lines = jsonLines(pulled.text);
    expect(lines[0]).toEqual({ status: "pulling manifest" });
    expect(lines).toContainEqual(expect.objectContaining({ total: 100, completed: 50 }));
    expect(lines.at(-1)).toEqual({ status: "success" });
    expect((await get(url, "/api/tags")).models).toMatchObject([{ name: "b:1", size: 100 }]);
    const unknown = await probe(`${url}/api/pull`, { body: JSON.stringify({ model: "nope" }) });
    expect(jsonLines(unknown.text).at(-1)).toEqual({ error: "pull model manifest: file does not exist" });
  });

  it("refuse a prompt that does not fit only when asked to", async () => {
    const url = await start("model a\nmodel old cut=silent\nreply times=any\n  text: hi");
    const long = { messages: [{ role: "user", content: "x".repeat(9000) }], options: { num_ctx: 2000 } };
    const refused = await askOllama(url, { model: "a", ...long, truncate: false });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("exceeds the context length")]);
    for (const fields of [{ model: "a" }, { model: "old", truncate: false }]) {
      const answer = await askOllama(url, { ...fields, ...long });
      expect(jsonLines(answer.text).at(-1)).toMatchObject({ prompt_eval_count: 2000 });
    }
  });
});
