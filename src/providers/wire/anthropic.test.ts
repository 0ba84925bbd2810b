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

  it("marks arguments that were cut off, or are no object, and repairs nothing", () => {
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

  it("does not show what was not JSON", () => {
    const seen = replay(anthropic, CONTEXT, [Buffer.from("data: {private\n\n")]);
    expect(seen).toMatchObject([{ type: "failure", failure: { reason: "MalformedResponse" } }]);
    expect(JSON.stringify(seen)).not.toContain("private");
  });
});

describe("[M1 M2] a request to Anthropic Messages", () => {
  const request = (messages: readonly Message[], more: Partial<ModelRequest> = {}) =>
    anthropic.encode({ model: "claude", system: "", messages, tools: [], ...more }, TARGET).body;
  const said = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });

  it("has the limits, the system text and the tools", () => {
    const tools = [{ name: "read", description: "Reads.", inputSchema: { type: "object" } }];
    const encoded = anthropic.encode({ model: "m", system: "Be brief.", messages: [said("Hi")], tools }, TARGET);
    expect(encoded.url).toBe("https://host/v1/messages");
    expect(encoded.headers).toEqual({ "anthropic-version": "2023-06-01" });
    expect(anthropic.authorize("k")).toEqual({ "x-api-key": "k" });
    expect(encoded.body).toEqual({
      model: "m",
      max_tokens: 8192,
      stream: true,
      system: "Be brief.",
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

  it("leaves out a server's tool that a cancel cut off, but not one that is to go on", () => {
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
