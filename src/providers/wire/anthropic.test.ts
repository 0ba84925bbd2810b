import { describe, expect, it } from "vitest";
import type { ModelEvent, ModelRequest } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { anthropic } from "./anthropic.js";
import { replay } from "./framing.js";

const CONTEXT = {
  provider: "anthropic",
  family: "anthropic",
  model: "claude",
  url: "https://host/v1/messages",
  tools: [],
};
const TARGET = { baseUrl: "https://host", family: "anthropic" };

const START = { type: "message_start", message: { usage: { input_tokens: 10, output_tokens: 1 } } };
const STOP = { type: "message_stop" };

function events(...data: readonly JsonObject[]): readonly ModelEvent[] {
  const stream = data.map((item) => `event: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`).join("");
  return replay(anthropic, CONTEXT, [Buffer.from(stream)]);
}

function block(index: number, start: JsonObject, ...deltas: readonly JsonObject[]): readonly JsonObject[] {
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

const ended = (reason: string, usage: JsonObject = { output_tokens: 5 }) => ({
  type: "message_delta",
  delta: { stop_reason: reason },
  usage,
});
const text = (value: string) => ({ type: "text_delta", text: value });
const json = (value: string) => ({ type: "input_json_delta", partial_json: value });
const blocksOf = (all: readonly ModelEvent[]) => all.flatMap((event) => (event.type === "block" ? [event.block] : []));

describe("[M1 M2] the stream of Anthropic Messages", () => {
  it("gives text as deltas and as a block, merges usage and ends with the stop reason", () => {
    const usage = { input_tokens: 12, cache_read_input_tokens: 100, cache_creation_input_tokens: 7, output_tokens: 9 };
    const seen = events(
      START,
      { type: "ping" },
      ...block(0, { type: "text", text: "" }, text("Hel"), text("lo")),
      { type: "something_new", index: 3 },
      ended("end_turn", usage),
      STOP,
    );
    expect(seen).toEqual([
      { type: "usage", usage: { input: 10, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 } },
      { type: "text", text: "Hel" },
      { type: "text", text: "lo" },
      { type: "block", block: { type: "text", text: "Hello" } },
      { type: "usage", usage: { input: 12, output: 9, cache_read: 100, cache_write: 7, reasoning: 0 } },
      { type: "stop", reason: "end" },
    ]);
  });

  it("keeps the counts of the start when the end names only the output", () => {
    const start = { ...START, message: { usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 } } };
    const details = { output_tokens: 8, output_tokens_details: { thinking_tokens: 6 } };
    const usage = events(start, ended("end_turn", details), STOP).findLast((event) => event.type === "usage");
    expect(usage).toEqual({
      type: "usage",
      usage: { input: 3, output: 8, cache_read: 4, cache_write: 0, reasoning: 6 },
    });
  });

  it("puts parallel calls together from pieces of JSON", () => {
    const seen = events(
      START,
      ...block(0, { type: "tool_use", id: "t1", name: "read", input: {} }, json(""), json('{"pa'), json('th":"a"}')),
      ...block(1, { type: "tool_use", id: "t2", name: "list", input: {} }),
      ...block(2, { type: "tool_use", id: "t3", name: "grep", input: { pattern: "x" } }),
      ended("tool_use"),
      STOP,
    );
    expect(blocksOf(seen)).toEqual([
      { type: "tool_call", tool: "read", args: { path: "a" } },
      { type: "tool_call", tool: "list", args: {} },
      { type: "tool_call", tool: "grep", args: { pattern: "x" } },
    ]);
    expect(seen.at(-1)).toEqual({ type: "stop", reason: "tool_calls" });
  });

  it("marks arguments that were cut off or are not an object, and repairs nothing", () => {
    const cut = [
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", name: "write", input: {} } },
      { type: "content_block_delta", index: 0, delta: json('{"path": "a", "text": "unfin') },
    ];
    const seen = events(START, ...cut, ended("max_tokens"), STOP);
    expect(blocksOf(seen)).toEqual([
      { type: "tool_call", tool: "write", args: {}, malformed: '{"path": "a", "text": "unfin' },
    ]);
    expect(seen.at(-1)).toEqual({ type: "stop", reason: "length" });
    const list = events(START, ...block(0, { type: "tool_use", name: "write", input: {} }, json("[1]")), STOP);
    expect(blocksOf(list)).toEqual([{ type: "tool_call", tool: "write", args: {}, malformed: "[1]" }]);
  });

  it("keeps a block of thinking with its signature, and hidden thinking, as opaque", () => {
    const seen = events(
      START,
      ...block(
        0,
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking: "Let me" },
        { type: "thinking_delta", thinking: " see." },
        { type: "signature_delta", signature: "abc" },
      ),
      ...block(1, { type: "redacted_thinking", data: "secret" }),
      ...block(2, { type: "text", text: "" }, text("Done.")),
      ended("end_turn"),
      STOP,
    );
    expect(seen.filter((event) => event.type === "thinking").map((event) => event.text)).toEqual(["Let me", " see."]);
    expect(blocksOf(seen)).toEqual([
      { type: "thinking", text: "Let me see.", provider: "anthropic", opaque: { signature: "abc" } },
      { type: "thinking", text: "", provider: "anthropic", opaque: { redacted: "secret" } },
      { type: "text", text: "Done." },
    ]);
  });

  it("keeps blocks it does not know whole, with their deltas merged in", () => {
    const seen = events(
      START,
      ...block(0, { type: "server_tool_use", id: "s1", name: "web_search", input: {} }, json('{"q":'), json("1}")),
      ...block(1, { type: "web_search_tool_result", tool_use_id: "s1", content: [{ title: "T" }] }),
      ...block(
        2,
        { type: "compaction", content: null },
        { type: "compaction_delta", content: "a" },
        { type: "compaction_delta", content: "b" },
      ),
      ended("pause_turn"),
      STOP,
    );
    expect(blocksOf(seen)).toEqual([
      {
        type: "opaque",
        provider: "anthropic",
        data: { type: "server_tool_use", id: "s1", name: "web_search", input: { q: 1 } },
      },
      {
        type: "opaque",
        provider: "anthropic",
        data: { type: "web_search_tool_result", tool_use_id: "s1", content: [{ title: "T" }] },
      },
      { type: "opaque", provider: "anthropic", data: { type: "compaction", content: "ab" } },
    ]);
    expect(seen.at(-1)).toEqual({ type: "stop", reason: "pause" });
  });

  it.each([
    ["end_turn", "end"],
    ["stop_sequence", "end"],
    ["tool_use", "tool_calls"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "refusal"],
    ["pause_turn", "pause"],
    ["something_else", "end"],
  ])("reads the stop reason %s as %s", (theirs, ours) => {
    expect(events(START, ended(theirs), STOP).at(-1)).toEqual({ type: "stop", reason: ours });
  });

  it("ends with the failure of an error event, before or in the middle, and reads no further", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    expect(events(error)).toMatchObject([{ type: "failure", failure: { reason: "Overloaded", retryable: true } }]);
    const begun = [START, ...block(0, { type: "text", text: "" }, text("Half"))];
    const seen = events(...begun, error, STOP);
    expect(seen.at(-1)).toMatchObject({ type: "failure", failure: { reason: "Overloaded" } });
    expect(seen).toContainEqual({ type: "text", text: "Half" });
  });

  it("does not take a stream without its end for an answer", () => {
    const whole = [START, ...block(0, { type: "text", text: "" }, text("All of it")), ended("end_turn")];
    expect(events(...whole).at(-1)).toMatchObject({ type: "failure", failure: { reason: "StreamInterrupted" } });
    expect(events(START, START, ended("end_turn"), STOP).at(-1)).toEqual({ type: "stop", reason: "end" });
    const glued = events(START, ...block(0, { type: "text", text: "" }, text("one")), START, ended("end_turn"), STOP);
    expect(glued.at(-1)).toMatchObject({ type: "failure", failure: { reason: "StreamInterrupted", retryable: true } });
  });

  it("does not show text that is not JSON", () => {
    const seen = replay(anthropic, CONTEXT, [Buffer.from("data: {private\n\n")]);
    expect(seen).toMatchObject([{ type: "failure", failure: { reason: "MalformedResponse" } }]);
    expect(JSON.stringify(seen)).not.toContain("private");
  });
});

describe("[M1 M2] a request to Anthropic Messages", () => {
  const encode = (messages: readonly Message[], more: Partial<ModelRequest> = {}) =>
    anthropic.encode({ model: "claude", system: "", messages, tools: [], ...more }, TARGET).body;
  /** Without the marks of the cache, which have tests of their own. */
  const request = (messages: readonly Message[], more: Partial<ModelRequest> = {}): JsonObject =>
    JSON.parse(JSON.stringify(encode(messages, more), (key, value) => (key === "cache_control" ? undefined : value)));
  const said = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });

  it("has the limits, the system text and the tools", () => {
    const tools = [{ name: "read", description: "Reads.", inputSchema: { type: "object" } }];
    const encoded = anthropic.encode({ model: "m", system: "Be brief.", messages: [said("Hi")], tools }, TARGET);
    expect(encoded.url).toBe("https://host/v1/messages");
    expect(encoded.headers).toEqual({ "anthropic-version": "2023-06-01" });
    expect(anthropic.authorize("k")).toEqual({ "x-api-key": "k" });
    expect(request([said("Hi")], { model: "m", system: "Be brief.", tools })).toEqual({
      model: "m",
      max_tokens: 8192,
      stream: true,
      system: [{ type: "text", text: "Be brief." }],
      tools: [{ name: "read", description: "Reads.", input_schema: { type: "object" } }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    });
    expect(request([said("Hi")], { maxOutputTokens: 10 })).toMatchObject({ max_tokens: 10 });
    expect(request([said("Hi")])).not.toHaveProperty("system");
  });

  it("returns its own thinking and opaque blocks as they came, and drops those of others", () => {
    const search = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };
    const found = { type: "web_search_tool_result", tool_use_id: "s1", content: [] };
    const body = request([
      said("Hi"),
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "Hm.", provider: "anthropic", opaque: { signature: "sig" } },
          { type: "thinking", text: "", provider: "anthropic", opaque: { redacted: "data" } },
          { type: "thinking", text: "unsigned", provider: "anthropic" },
          { type: "thinking", text: "foreign", provider: "openai", opaque: { signature: "no" } },
          { type: "opaque", provider: "anthropic", data: search },
          { type: "opaque", provider: "anthropic", data: found },
          { type: "opaque", provider: "gemini", data: { type: "x" } },
          { type: "text", text: "Hello." },
        ],
      },
      said("And?"),
    ]);
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "sig" },
          { type: "redacted_thinking", data: "data" },
          search,
          found,
          { type: "text", text: "Hello." },
        ],
      },
      { role: "user", content: [{ type: "text", text: "And?" }] },
    ]);
  });

  it("puts calls last and their results first, and never ends a message with thinking", () => {
    const body = request([
      said("Go"),
      {
        role: "assistant",
        content: [
          { type: "tool_use", call: "call_1", tool: "read", args: { path: "a" } },
          { type: "text", text: "I will look." },
        ],
      },
      {
        role: "user",
        content: [
          { type: "text", text: "Also this" },
          {
            type: "tool_result",
            call: "call_1",
            tool: "read",
            content: [{ type: "text", text: "no" }],
            is_error: true,
          },
        ],
      },
      {
        role: "assistant",
        interrupted: true,
        content: [
          { type: "text", text: "Partly" },
          { type: "thinking", text: "Hm", provider: "anthropic", opaque: { signature: "s" } },
        ],
      },
      said("Go on"),
    ]);
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Go" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I will look." },
          { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: [{ type: "text", text: "no" }], is_error: true },
          { type: "text", text: "Also this" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "Partly" }] },
      { role: "user", content: [{ type: "text", text: "Go on" }] },
    ]);
  });

  it("leaves out a server's tool that a cancel cut off, but not one that continues", () => {
    const search = { type: "opaque", provider: "anthropic", data: { type: "server_tool_use", id: "s1" } } as const;
    const answer: Message = { role: "assistant", content: [{ type: "text", text: "Looking" }, search] };
    const kept = request([said("Go"), answer]).messages;
    expect(kept).toHaveProperty("[1].content[1]", search.data);
    expect(request([said("Go"), answer, said("Stop")]).messages).toHaveProperty("[1].content.length", 1);
  });

  it("sends images in input and in results, and no empty text", () => {
    const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
    const body = request([
      { role: "user", content: [image, { type: "text", text: "  " }] },
      { role: "assistant", content: [{ type: "tool_use", call: "call_1", tool: "we ird", args: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            call: "call_1",
            tool: "we ird",
            content: [{ type: "text", text: "" }, image],
            is_error: false,
          },
        ],
      },
    ]);
    const source = { type: "base64", media_type: "image/png", data: "AAAA" };
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "image", source }] },
      { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "we_ird", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: [{ type: "image", source }] }] },
    ]);
  });
});

describe("[M2] the cache of Anthropic Messages", () => {
  const TOOLS = ["read", "bash"].map((name) => ({ name, description: "", inputSchema: { type: "object" } }));
  const said = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });
  const answered = (value: string): Message => ({ role: "assistant", content: [{ type: "text", text: value }] });
  const encode = (messages: readonly Message[]) =>
    anthropic.encode({ model: "claude", system: "Be brief.", messages, tools: TOOLS }, TARGET).body;
  const marked = (body: JsonObject) =>
    [...JSON.stringify(body).matchAll(/\{[^{}]*(?:\{[^{}]*\}[^{}]*)*"cache_control":\{"type":"ephemeral"\}\}/g)].map(
      ([block]) => /"(?:name|text)":"([^"]*)"/.exec(block)?.[1],
    );

  it("is cut after the tools, the system text and the last two of the user's messages", () => {
    const body = encode([said("1"), answered("2"), said("3"), answered("4"), said("5")]);
    expect(marked(body).sort()).toEqual(["3", "5", "Be brief.", "bash"]);
  });

  it("is cut where the call before had its newest mark, and nothing before that changes", () => {
    const first = [said("1"), answered("2"), said("3")];
    const before = encode(first);
    const after = encode([...first, answered("4"), said("5")]);
    expect(marked(before)).toContain("3");
    expect(marked(after)).toContain("3");
    const plain = (body: JsonObject) =>
      JSON.stringify(body.messages, (key, value) => (key === "cache_control" ? undefined : value)).slice(0, -1);
    expect(plain(after).startsWith(plain(before))).toBe(true);
    expect([before.system, before.tools]).toEqual([after.system, after.tools]);
  });

  it("marks the last block of a message, a result too, and never more than four", () => {
    const call = { type: "tool_use", call: "call_1", tool: "read", args: {} } as const;
    const result = { type: "tool_result", call: "call_1", tool: "read", content: [], is_error: false } as const;
    const body = encode([
      said("1"),
      { role: "assistant", content: [call] },
      { role: "user", content: [result, { type: "text", text: "2" }] },
    ]);
    expect(body.messages).toMatchObject([
      { content: [{ cache_control: { type: "ephemeral" } }] },
      { content: [{ type: "tool_use" }] },
      { content: [{ type: "tool_result" }, { text: "2", cache_control: { type: "ephemeral" } }] },
    ]);
    expect(body.messages).not.toHaveProperty("[2].content[0].cache_control");
    expect(marked(body)).toHaveLength(4);
  });
});

describe("[M2] what Anthropic's own models get", () => {
  const TOOLS = [{ name: "read", description: "", inputSchema: { type: "object" } }];
  const thinking = { type: "enabled", budget_tokens: 2048 };
  const encode = (model: string, { baseUrl = "https://api.anthropic.com", extra = {}, tools = TOOLS } = {}) =>
    anthropic.encode(
      { model, system: "", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], tools },
      { baseUrl, family: "anthropic", extra },
    );

  it.each<[string, string | undefined]>([
    ["claude-sonnet-4-5", "interleaved-thinking-2025-05-14"],
    ["claude-opus-4-1-20250805", "interleaved-thinking-2025-05-14"],
    ["claude-sonnet-4-6", "interleaved-thinking-2025-05-14"],
    ["claude-opus-4-7", undefined],
    ["claude-3-7-sonnet-20250219", undefined],
  ])("%s thinks between calls with %s", (model, beta) => {
    expect(encode(model, { extra: { thinking } }).headers["anthropic-beta"]).toBe(beta);
    expect(encode(model).headers).not.toHaveProperty("anthropic-beta");
    expect(encode(model, { extra: { thinking }, tools: [] }).headers).not.toHaveProperty("anthropic-beta");
  });

  it("is arguments as they are written, but not for a server that may not know the field", () => {
    expect(encode("claude-haiku-4-5").body.tools).toMatchObject([{ eager_input_streaming: true }]);
    const other = encode("claude-haiku-4-5", { baseUrl: "https://gateway.example", extra: { thinking } });
    expect(other.body.tools).not.toHaveProperty("[0].eager_input_streaming");
    expect(other.headers).not.toHaveProperty("anthropic-beta");
    expect(encode("claude-3-haiku-20240307").body.tools).not.toHaveProperty("[0].eager_input_streaming");
  });
});
