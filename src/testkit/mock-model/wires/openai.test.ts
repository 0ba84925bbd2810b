import { afterEach, describe, expect, it } from "vitest";
import { askOpenai, probe, sseEvents } from "../http-probe.js";
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
  tool read pieces=2 {"path": "a.txt"}
  tool list
  usage input=10 output=20 cache-read=3 cache-write=4 reasoning=5
`;

const USAGE = {
  prompt_tokens: 17,
  completion_tokens: 20,
  total_tokens: 37,
  prompt_tokens_details: { cached_tokens: 3, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 5,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

interface Chunk {
  readonly choices: readonly { readonly delta: unknown; readonly finish_reason: string | null }[];
  readonly usage?: unknown;
}

describe("a stream", () => {
  it("is the service's chunks in the service's order, with usage on request", async () => {
    const answer = await askOpenai(await start(SCRIPT), { stream_options: { include_usage: true } });
    expect(answer.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(answer.headers["x-request-id"]).toMatch(/^req_[0-9a-f]{32}$/);
    const events = sseEvents(answer.text).map(({ data }) => data);
    expect(events.at(-1)).toBe("[DONE]");
    const chunks = events.slice(0, -1) as Chunk[];
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: "assistant", content: null, refusal: null },
      { content: null, reasoning_content: "Hm." },
      { content: "I" },
      { content: " will" },
      { content: " look." },
      {
        tool_calls: [
          {
            index: 0,
            id: expect.stringMatching(/^call_\w{24}$/),
            type: "function",
            function: { name: "read", arguments: "" },
          },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ' "a.txt"}' } }] },
      {
        tool_calls: [
          {
            index: 1,
            id: expect.stringMatching(/^call_/),
            type: "function",
            function: { name: "list", arguments: "" },
          },
        ],
      },
      { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
      {},
      undefined,
    ]);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason ?? null).filter(Boolean)).toEqual(["tool_calls"]);
    expect(chunks.map(({ usage }) => usage)).toEqual([...chunks.slice(1).map(() => null), USAGE]);
    expect(chunks.at(-1)?.choices).toEqual([]);
  });

  it("keeps the order of fields, and reports usage only on request", async () => {
    const { text } = await askOpenai(await start("reply\n  text: Hi"));
    expect(text.split("\n\n")[1]).toMatch(
      /^data: \{"id":"chatcmpl-\w{29}","object":"chat\.completion\.chunk","created":\d{10},"model":"mock-model","service_tier":"default","system_fingerprint":"fp_\w+","choices":\[\{"index":0,"delta":\{"content":"Hi"\},"logprobs":null,"finish_reason":null\}\]\}$/,
    );
    expect(text).not.toContain("usage");
    expect(text).toContain('"delta":{"role":"assistant","content":"","refusal":null}');
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("sends an error in a separate frame and stops", async () => {
    const { text } = await askOpenai(await start('reply\n  text: a\n  error server "Boom" code=boom'));
    expect(sseEvents(text).at(-1)?.data).toEqual({
      error: { message: "Boom", type: "server_error", param: null, code: "boom" },
    });
  });

  it("sends keep-alive comments", async () => {
    const { text } = await askOpenai(await start("reply\n  comment: PROCESSING\n  ping\n  text: a"));
    expect(text).toContain(": PROCESSING\n\n: ping\n\n");
  });

  it.each([
    ["end", "stop"],
    ["length", "length"],
    ["refusal", "content_filter"],
    ['"function_call"', "function_call"],
  ])("stops for %s", async (word, reason) => {
    const { text } = await askOpenai(await start(`reply\n  text: Hi\n  stop ${word}`));
    expect(text).toContain(`"finish_reason":"${reason}"`);
  });
});

describe("in one piece", () => {
  it("is a completion", async () => {
    const answer = await askOpenai(await start(SCRIPT), { stream: false });
    const body = JSON.parse(answer.text);
    expect(Object.keys(body)).toEqual([
      "id",
      "object",
      "created",
      "model",
      "choices",
      "usage",
      "service_tier",
      "system_fingerprint",
    ]);
    expect(body.object).toBe("chat.completion");
    expect(body.usage).toEqual(USAGE);
    expect(body.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: "I will look.",
        reasoning_content: "Hm.",
        tool_calls: [
          { type: "function", function: { name: "read", arguments: '{"path": "a.txt"}' } },
          { type: "function", function: { name: "list", arguments: "{}" } },
        ],
      },
    });
  });

  it("has no text when only tools are called", async () => {
    const answer = await askOpenai(await start("reply\n  tool list"), { stream: false });
    expect(JSON.parse(answer.text).choices[0].message.content).toBeNull();
  });
});

describe("lookups", () => {
  it("lists the models, and shows one", async () => {
    const url = await start("model gpt-a\nreply\n  text: hi");
    const list = JSON.parse((await probe(`${url}/v1/models`)).text);
    expect(list).toMatchObject({ object: "list", data: [{ id: "gpt-a", object: "model" }] });
    expect(JSON.parse((await probe(`${url}/v1/models/gpt-a`)).text).id).toBe("gpt-a");
    expect((await probe(`${url}/v1/models/gpt-b`)).status).toBe(404);
  });

  it("takes the path without v1 too", async () => {
    const url = await start("reply\n  text: hi");
    const body = { model: "m", messages: [{ role: "user", content: "a" }] };
    expect((await probe(`${url}/chat/completions`, { body })).status).toBe(200);
    expect((await probe(`${url}/models`)).status).toBe(200);
    const nowhere = await probe(`${url}/v1/nowhere`, { body });
    expect([nowhere.status, JSON.parse(nowhere.text).error.message]).toEqual([404, "Invalid URL (POST /v1/nowhere)"]);
  });
});

const user = { role: "user", content: "a" };
const called = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "read", arguments: "{}" } })),
});
const answered = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" });
const tool = { type: "function", function: { name: "read" } };

describe("refusals", () => {
  it.each<[string, object, object]>([
    ["no model", { model: undefined }, { message: "you must provide a model parameter" }],
    ["no messages", { messages: undefined }, { param: "messages", code: "missing_required_parameter" }],
    ["empty messages", { messages: [] }, { param: "messages", code: "empty_array" }],
    [
      "an unknown role",
      { messages: [{ role: "bot", content: "a" }] },
      { param: "messages[0].role", code: "invalid_value" },
    ],
    [
      "a tool message without a call",
      { messages: [user, answered("c1")] },
      {
        message:
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        param: "messages.[1].role",
      },
    ],
    [
      "calls without an answer",
      { messages: [user, called("c1", "c2"), answered("c1"), user] },
      {
        message:
          "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: c2",
        param: "messages.[3].role",
        code: null,
      },
    ],
    ["a call at the end", { messages: [user, called("c1")] }, { param: "messages.[2].role" }],
    [
      "an answer to another call",
      { messages: [user, called("c1"), answered("c9")] },
      { param: "messages.[2].tool_call_id" },
    ],
    [
      "an answer to no call",
      { messages: [user, called("c1"), { role: "tool", content: "ok" }] },
      { param: "messages[2].tool_call_id" },
    ],
    ["no content", { messages: [{ role: "user", content: null }] }, { param: "messages.[0].content" }],
    ["nothing said", { messages: [user, { role: "assistant" }] }, { param: "messages.[1].content" }],
    ["an empty content", { messages: [{ role: "user", content: [] }] }, { code: "empty_array" }],
    [
      "empty tool_calls",
      { messages: [user, { role: "assistant", content: "a", tool_calls: [] }] },
      { param: "messages[1].tool_calls", code: "empty_array" },
    ],
    [
      "arguments as an object",
      {
        messages: [
          user,
          { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: {} } }] },
        ],
      },
      { param: "messages[1].tool_calls[0].function.arguments", code: "invalid_type" },
    ],
    ["a long call id", { messages: [user, called("c".repeat(41))] }, { code: "string_above_max_length" }],
    ["empty tools", { tools: [] }, { param: "tools", code: "empty_array" }],
    [
      "an odd tool name",
      { tools: [{ type: "function", function: { name: "a.b" } }] },
      { param: "tools[0].function.name", code: "invalid_value" },
    ],
    ["a tool_choice without tools", { tool_choice: "auto" }, { param: "tool_choice" }],
    [
      "stream_options without a stream",
      { stream: false, stream_options: { include_usage: true } },
      { param: "stream_options" },
    ],
  ])("%s", async (_, fields, error) => {
    const answer = await askOpenai(await start("reply\n  text: hi"), fields);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text).error).toMatchObject({ type: "invalid_request_error", ...error });
    expect(Object.keys(JSON.parse(answer.text).error)).toEqual(["message", "type", "param", "code"]);
    expect(mock.failures).toMatchObject([{ request: 1, kind: "refused" }]);
  });

  it("but not calls that are all answered", async () => {
    const messages = [
      user,
      called("c1", "c2"),
      answered("c2"),
      answered("c1"),
      { role: "assistant", content: "b" },
      user,
    ];
    const answer = await askOpenai(await start("reply\n  text: hi"), { messages, tools: [tool], tool_choice: "auto" });
    expect(answer.status).toBe(200);
  });

  it("the wrong key, or none, when one is set", async () => {
    const url = await start("reply times=any\n  text: hi", { key: "right" });
    const status = async (headers: Record<string, string>) => {
      const answer = await askOpenai(url, {}, { headers });
      return [answer.status, answer.status === 200 ? undefined : JSON.parse(answer.text).error.code];
    };
    expect(await status({})).toEqual([401, null]);
    expect(await status({ authorization: "Bearer wrong" })).toEqual([401, "invalid_api_key"]);
    expect(await status({ authorization: "Bearer right" })).toEqual([200, undefined]);
  });

  it("a model that is not there, once models are named", async () => {
    const answer = await askOpenai(await start("reply\n  text: hi", { models: ["gpt-a"] }), { model: "gpt-b" });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text).error).toMatchObject({ code: "model_not_found" });
  });
});

it.each([
  ["error 429", 429, "tokens", "rate_limit_exceeded"],
  ["error quota", 429, "insufficient_quota", "insufficient_quota"],
  ["error overloaded", 503, "server_error", null],
  ["error too-long", 400, "invalid_request_error", "context_length_exceeded"],
  ["error 400 type=odd", 400, "odd", null],
])("%s", async (statement, status, type, code) => {
  const answer = await askOpenai(await start(`reply\n  ${statement}`));
  expect([answer.status, JSON.parse(answer.text).error]).toMatchObject([status, { type, code }]);
});
