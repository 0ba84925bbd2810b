import { afterEach, describe, expect, it } from "vitest";
import { ANTHROPIC_HEADERS, askAnthropic, probe, sseEvents } from "../http-probe.js";
import { type MockModel, type MockModelOptions, startMockModel } from "../server.js";

let mock: MockModel;

async function start(script: string, options: Partial<MockModelOptions> = {}): Promise<string> {
  mock = await startMockModel({ script, seed: 1, ...options });
  return mock.url;
}

afterEach(() => mock.close());

describe("a stream", () => {
  it("is the service's events in the service's order", async () => {
    const url = await start(`
reply
  thinking: Let me see.
  text: I will look.
  tool read pieces=2 {"path": "a.txt"}
  usage input=10 output=20 cache-read=3 cache-write=4 reasoning=5
`);
    const answer = await askAnthropic(url);
    expect(answer.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(answer.headers["request-id"]).toMatch(/^req_011C\w{20}$/);
    const events = sseEvents(answer.text);
    for (const { event, data } of events) expect((data as { type: string }).type).toBe(event);
    expect(events.map(({ data }) => data)).toEqual([
      {
        type: "message_start",
        message: {
          model: "mock-model",
          id: expect.stringMatching(/^msg_01\w{22}$/),
          type: "message",
          role: "assistant",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          usage: {
            input_tokens: 10,
            cache_creation_input_tokens: 4,
            cache_read_input_tokens: 3,
            cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 0 },
            output_tokens: 1,
            output_tokens_details: { thinking_tokens: 5 },
            service_tier: "standard",
          },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "ping" },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Let" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: " me" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: " see." } },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "signature_delta", signature: expect.stringMatching(/^[\w+/]+=*$/) },
      },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "I" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: " will" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: " look." } },
      { type: "content_block_stop", index: 1 },
      {
        type: "content_block_start",
        index: 2,
        content_block: {
          type: "tool_use",
          id: expect.stringMatching(/^toolu_01\w{22}$/),
          name: "read",
          input: {},
          caller: { type: "direct" },
        },
      },
      { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: "" } },
      { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"path":' } },
      { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: ' "a.txt"}' } },
      { type: "content_block_stop", index: 2 },
      {
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null, stop_details: null },
        usage: {
          input_tokens: 10,
          cache_creation_input_tokens: 4,
          cache_read_input_tokens: 3,
          output_tokens: 20,
          output_tokens_details: { thinking_tokens: 5 },
        },
      },
      { type: "message_stop" },
    ]);
  });

  it("keeps the order of fields", async () => {
    const { text } = await askAnthropic(await start("reply\n  text: Hi\n  usage input=1 output=2"));
    expect(text).toMatch(
      /^event: message_start\ndata: \{"type":"message_start","message":\{"model":"mock-model","id":"msg_/,
    );
    expect(text).toContain(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n',
    );
    expect(text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
  });

  it("sends no argument text for a call without arguments, as the service does", async () => {
    const { text } = await askAnthropic(await start("reply\n  tool list"));
    expect(text.match(/"partial_json":"[^"]*"/g)).toEqual(['"partial_json":""']);
  });

  it("says an error as an event", async () => {
    const { text } = await askAnthropic(await start("reply\n  start\n  error overloaded"));
    expect(sseEvents(text).at(-1)).toEqual({
      event: "error",
      data: { type: "error", error: { details: null, type: "overloaded_error", message: "Overloaded" } },
    });
  });

  it.each([
    ["end", "end_turn"],
    ["length", "max_tokens"],
    ["refusal", "refusal"],
    ["pause", "pause_turn"],
    ["stop-sequence", "stop_sequence"],
    ['"model_context_window_exceeded"', "model_context_window_exceeded"],
  ])("stops for %s", async (word, reason) => {
    const { text } = await askAnthropic(await start(`reply\n  text: Hi\n  stop ${word}`));
    expect(text).toContain(`"stop_reason":"${reason}"`);
  });

  it("passes redacted thinking, and leaves the usage out on request", async () => {
    const { text } = await askAnthropic(await start("reply\n  redacted-thinking: abc=\n  text: Hi\n  usage none"));
    expect(text).toContain('"content_block":{"type":"redacted_thinking","data":"abc="}');
    expect(text).not.toContain("usage");
  });
});

it("answers in one piece without a stream", async () => {
  const url = await start(
    'reply\n  thinking signature=abc: Hm.\n  text: Hi there\n  tool read {"path": "a"}\n  usage input=1 output=2',
  );
  const answer = await askAnthropic(url, { stream: false });
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  const message = JSON.parse(answer.text);
  expect(Object.keys(message).slice(0, 5)).toEqual(["model", "id", "type", "role", "content"]);
  expect(message).toMatchObject({
    content: [
      { type: "thinking", thinking: "Hm.", signature: "abc" },
      { type: "text", text: "Hi there" },
      { type: "tool_use", name: "read", input: { path: "a" } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 1, output_tokens: 2 },
  });
});

describe("lookups", () => {
  it("lists the models, and shows one", async () => {
    const url = await start("model claude-a\nmodel claude-b\nreply\n  text: hi");
    const list = JSON.parse((await probe(`${url}/v1/models?limit=5`, { headers: ANTHROPIC_HEADERS })).text);
    expect(list).toMatchObject({ has_more: false, first_id: "claude-a", last_id: "claude-b" });
    expect(list.data[0]).toMatchObject({ type: "model", id: "claude-a", display_name: "claude-a" });
    expect((await probe(`${url}/v1/models/claude-b`, { headers: ANTHROPIC_HEADERS })).text).toContain(
      '"id":"claude-b"',
    );
    expect((await probe(`${url}/v1/models/claude-c`, { headers: ANTHROPIC_HEADERS })).status).toBe(404);
  });

  it("counts tokens", async () => {
    const url = await start("reply\n  text: hi");
    const body = { model: "claude", messages: [{ role: "user", content: "Hello" }] };
    const answer = await probe(`${url}/v1/messages/count_tokens`, { headers: ANTHROPIC_HEADERS, body });
    expect(JSON.parse(answer.text).input_tokens).toBeGreaterThan(5);
  });

  it("has no other path", async () => {
    const url = await start("reply\n  text: hi");
    const answer = await probe(`${url}/v1/v1/messages`, { headers: ANTHROPIC_HEADERS, body: {} });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text).error.type).toBe("not_found_error");
  });
});

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const call = (id: string, input: unknown = {}) => ({ type: "tool_use", id, name: "read", input });
const result = (id: string, content: unknown = "ok") => ({ type: "tool_result", tool_use_id: id, content });
const text = (text: string) => ({ type: "text", text });
const tool = { name: "read", input_schema: { type: "object" } };
const mark = { cache_control: { type: "ephemeral" } };

describe("refusals", () => {
  it.each<[string, object, string]>([
    ["no max_tokens", { max_tokens: undefined }, "max_tokens: Field required"],
    ["no messages", { messages: [] }, "messages: at least one message is required"],
    ["an assistant first", { messages: [assistant("hi")] }, 'messages: first message must use the "user" role'],
    ["a system message first", { messages: [{ role: "system", content: "x" }, user("a")] }, "first message must use"],
    ["an unknown role", { messages: [{ role: "tool", content: "x" }] }, "messages.0.role: Input should be"],
    ["an empty text", { messages: [user([text("")])] }, "messages: text content blocks must be non-empty"],
    ["a blank text", { messages: [user([text(" \n")])] }, "must contain non-whitespace text"],
    ["an empty system block", { system: [text("")] }, "system: text content blocks must be non-empty"],
    ["an empty message", { messages: [user([])] }, "messages.0: all messages must have non-empty content"],
    [
      "a marked empty text",
      { messages: [user([{ ...text(""), ...mark }])] },
      "messages.0.content.0.text: cache_control cannot",
    ],
    [
      "a call without its result",
      { messages: [user("a"), assistant([call("t1"), call("t2")]), user([result("t1")])] },
      "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t2.",
    ],
    ["a call at the end", { messages: [user("a"), assistant([call("t1")])] }, "immediately after: t1."],
    [
      "a result after text",
      { messages: [user("a"), assistant([call("t1")]), user([text("hm"), result("t1")])] },
      "immediately after: t1.",
    ],
    [
      "a result without a call",
      { messages: [user("a"), assistant("b"), user([result("t9")])] },
      "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t9.",
    ],
    [
      "two results of a call",
      { messages: [user("a"), assistant([call("t1")]), user([result("t1"), result("t1")])] },
      "each tool_use must have a single result",
    ],
    [
      "an id twice",
      { messages: [user("a"), assistant([call("t1"), call("t1")]), user([result("t1")])] },
      "`tool_use` ids must be unique",
    ],
    [
      "an empty text in a result",
      { messages: [user("a"), assistant([call("t1")]), user([result("t1", [text("")])])] },
      "text content blocks must be non-empty",
    ],
    [
      "arguments as text",
      { messages: [user("a"), assistant([call("t1", "{}")])] },
      "tool_use.input: Input should be a valid dictionary",
    ],
    ["an odd call id", { messages: [user("a"), assistant([call("a.b")])] }, "tool_use.id: String should match pattern"],
    [
      "blanks at the end",
      { messages: [user("a"), assistant("so ")] },
      "final assistant content cannot end with trailing whitespace",
    ],
    [
      "an unknown tool_choice",
      { tools: [tool], tool_choice: { type: "required" } },
      "tool_choice: Input tag 'required'",
    ],
    [
      "a tool_choice as text",
      { tools: [tool], tool_choice: "auto" },
      "tool_choice: Input should be a valid dictionary",
    ],
    ["a tool_choice without tools", { tool_choice: { type: "auto" } }, "may only be specified while providing tools"],
    ["a choice that is not there", { tools: [tool], tool_choice: { type: "tool", name: "x" } }, "Tool 'x' not found"],
    ["an odd tool name", { tools: [{ ...tool, name: "a b" }] }, "tools.0.custom.name: String should match pattern"],
    ["a tool without schema", { tools: [{ name: "a" }] }, "tools.0.custom.input_schema: Field required"],
    ["a tool twice", { tools: [tool, tool] }, "tools: Tool names must be unique."],
    ["five cache marks", { messages: [user([1, 2, 3, 4, 5].map(() => ({ ...text("a"), ...mark })))] }, "Found 5."],
    ["a small budget", { thinking: { type: "enabled", budget_tokens: 10 } }, "greater than or equal to 1024"],
    [
      "a budget over the limit",
      { thinking: { type: "enabled", budget_tokens: 2000 } },
      "`max_tokens` must be greater than",
    ],
    [
      "thinking without signature",
      { messages: [user("a"), assistant([{ type: "thinking", thinking: "x" }])] },
      "signature: Field required",
    ],
  ])("%s", async (_, fields, message) => {
    const url = await start("reply\n  text: hi");
    const answer = await askAnthropic(url, fields);
    expect(answer.status).toBe(400);
    const body = JSON.parse(answer.text);
    expect(body).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
    expect(body.request_id).toBe(answer.headers["request-id"]);
    expect(body.error.message).toContain(message);
    expect(mock.failures).toMatchObject([{ request: 1, kind: "refused" }]);
    expect(mock.unusedReplies).toBe(1);
  });

  it.each<[string, object]>([
    [
      "results in two messages",
      {
        messages: [
          user("a"),
          assistant([call("t1"), call("t2")]),
          user([result("t1")]),
          user([result("t2"), text("go on")]),
        ],
      },
    ],
    ["a system message inside", { messages: [user("a"), { role: "system", content: "b" }] }],
    ["an empty result", { messages: [user("a"), assistant([call("t1")]), user([result("t1", "")])] }],
    ["a beginning to go on from", { messages: [user("a"), assistant("So")] }],
    ["four cache marks", { messages: [user([1, 2, 3, 4].map(() => ({ ...text("a"), ...mark })))] }],
    [
      "a tool of the service",
      { tools: [{ type: "web_search_20250305", name: "web_search" }], tool_choice: { type: "any" } },
    ],
  ])("but not %s", async (_, fields) => {
    expect((await askAnthropic(await start("reply\n  text: hi"), fields)).status).toBe(200);
  });

  it("thinking that was changed on the way back, and only that", async () => {
    const url = await start("reply\n  thinking: I think.\nreply\n  text: hi");
    const { content } = JSON.parse((await askAnthropic(url, { stream: false })).text);
    const back = (thinking: string) => ({ messages: [user("a"), assistant([{ ...content[0], thinking }]), user("b")] });
    const changed = await askAnthropic(url, back("I thought."));
    expect(changed.status).toBe(400);
    expect(changed.text).toContain("messages.1.content.0: Invalid `signature` in `thinking` block");
    expect((await askAnthropic(url, back("I think."))).status).toBe(200);
  });

  it("a missing version or key, and the wrong key", async () => {
    const url = await start("reply\n  text: hi", { key: "right" });
    const refused = async (headers: Record<string, string>) => {
      const { status, text } = await askAnthropic(url, {}, { headers });
      const { type, message } = JSON.parse(text).error;
      return [status, type, message];
    };
    expect(await refused({ "x-api-key": "right" })).toEqual([
      400,
      "invalid_request_error",
      "anthropic-version: header is required",
    ]);
    const version = { "anthropic-version": "2023-06-01" };
    expect(await refused(version)).toEqual([401, "authentication_error", "x-api-key header is required"]);
    expect(await refused({ ...version, "x-api-key": "wrong" })).toEqual([
      401,
      "authentication_error",
      "invalid x-api-key",
    ]);
    expect((await askAnthropic(url, {}, { headers: { ...version, authorization: "Bearer right" } })).status).toBe(200);
  });

  it("a model that is not there, once models are named", async () => {
    const answer = await askAnthropic(await start("reply\n  text: hi", { models: ["claude-a"] }), {
      model: "claude-b",
    });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text).error).toEqual({ type: "not_found_error", message: "model: claude-b" });
  });

  it("a body that is not JSON", async () => {
    const url = await start("reply\n  text: hi");
    const answer = await probe(`${url}/v1/messages`, { headers: ANTHROPIC_HEADERS, body: "{oops" });
    expect([answer.status, JSON.parse(answer.text).error.type]).toEqual([400, "invalid_request_error"]);
  });
});

it.each([
  ["error 429", 429, "rate_limit_error"],
  ["error 529", 529, "overloaded_error"],
  ["error 503", 503, "overloaded_error"],
  ["error 418", 418, "invalid_request_error"],
  ["error server", 500, "api_error"],
  ["error quota", 400, "invalid_request_error"],
  ["error too-long", 400, "invalid_request_error"],
  ["error 400 type=odd_error", 400, "odd_error"],
])("%s", async (statement, status, type) => {
  const answer = await askAnthropic(await start(`reply\n  ${statement}`));
  expect([answer.status, JSON.parse(answer.text).error.type]).toEqual([status, type]);
  expect(answer.headers["x-should-retry"]).toBe(String(status === 429 || status >= 500));
});
