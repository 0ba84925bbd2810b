import { describe, expect, it } from "vitest";
import type { ModelEvent, ModelRequest } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { replay } from "./framing.js";
import { openaiChat } from "./openai-chat.js";
import { reportedCost, reportsCost } from "./reported-cost.js";
import { argumentsAsWritten } from "./tool-arguments.js";

const CONTEXT = {
  provider: "openai",
  family: "openai",
  model: "gpt",
  url: "https://host/v1/chat/completions",
  tools: [],
};

function events(...data: readonly (JsonObject | string)[]): readonly ModelEvent[] {
  const stream = data.map((item) => `data: ${typeof item === "string" ? item : JSON.stringify(item)}\n\n`).join("");
  return replay(openaiChat, CONTEXT, [Buffer.from(stream)]);
}

const delta = (value: JsonObject, finish: string | null = null): JsonObject => ({
  choices: [{ index: 0, delta: value, finish_reason: finish }],
});
const call = (index: number | undefined, id: string | undefined, name: string | undefined, args?: JsonValue) =>
  delta({ tool_calls: [{ index, id, function: { name, arguments: args } }] });
const blocksOf = (all: readonly ModelEvent[]) => all.flatMap((event) => (event.type === "block" ? [event.block] : []));
const callsOf = (all: readonly ModelEvent[]) =>
  blocksOf(all).flatMap((block) => (block.type === "tool_call" ? [[block.tool, block.malformed ?? block.args]] : []));
const DONE = "[DONE]";

describe("[M1 M2] the stream of Chat Completions", () => {
  it("gives text, usage without cached tokens, and the stop reason", () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 8 },
    };
    const stream = [
      delta({ role: "assistant", content: "" }),
      delta({ content: "Hel" }),
      delta({ content: "lo" }, "stop"),
    ];
    expect(events(...stream, { choices: [], usage }, DONE)).toEqual([
      { type: "text", text: "Hel" },
      { type: "text", text: "lo" },
      { type: "usage", usage: { input: 30, output: 20, cache_read: 60, cache_write: 10, reasoning: 8 } },
      { type: "block", block: { type: "text", text: "Hello" } },
      { type: "stop", reason: "end" },
    ]);
  });

  it("finds the counts where other servers put them", () => {
    const usageOf = (chunk: JsonObject) => events(chunk, DONE).find((event) => event.type === "usage");
    const deepseek = { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4 };
    expect(usageOf({ usage: deepseek })).toMatchObject({ usage: { input: 5, cache_read: 4 } });
    const groq = { prompt_tokens: 9, completion_tokens: 1 };
    expect(usageOf({ x_groq: { usage: groq } })).toMatchObject({ usage: { input: 9, output: 1 } });
  });

  it("uses the cost that OpenRouter reports, and no other service's", () => {
    const counts = { prompt_tokens: 90, completion_tokens: 10, cost: 0.3 };
    const usage = { input: 90, output: 10, cache_read: 0, cache_write: 0, reasoning: 0 };
    expect(reportedCost(counts, usage)).toMatchObject({ usd: 0.3, input: 0.27, output: 0.03 });
    const details = {
      upstream_inference_cost: 0.2,
      upstream_inference_prompt_cost: 0.05,
      upstream_inference_completions_cost: 0.15,
    };
    expect(reportedCost({ ...counts, cost: 0.01, is_byok: true, cost_details: details }, usage)).toMatchObject({
      usd: 0.21,
      output: 0.1575,
    });
    for (const cost of ["0.3", -1, null, undefined])
      expect(reportedCost({ cost } as JsonObject, usage)).toBeUndefined();
    expect(reportsCost({ family: "openai-compatible", url: "https://api.acme.test/v1" })).toBe(false);
    expect(reportsCost({ family: "openai-compatible", url: "https://openrouter.ai/api/v1/chat/completions" })).toBe(
      true,
    );
  });

  it("keeps thinking apart from text, from any of the fields it comes in", () => {
    const seen = events(
      delta({ reasoning_content: "Let ", reasoning: "Let ", content: "" }),
      delta({ reasoning_content: "me see." }),
      delta({ content: "Yes." }, "stop"),
      DONE,
    );
    expect(blocksOf(seen)).toEqual([
      { type: "thinking", text: "Let me see.", provider: "openai", opaque: { field: "reasoning_content" } },
      { type: "text", text: "Yes." },
    ]);
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "Hm" }] },
      { type: "text", text: "Ok" },
    ];
    expect(blocksOf(events(delta({ content: parts }, "stop"), DONE))).toEqual([
      { type: "thinking", text: "Hm", provider: "openai" },
      { type: "text", text: "Ok" },
    ]);
  });

  it("puts parallel calls together and keeps the order of their index", () => {
    const seen = events(
      call(1, "b", "second", ""),
      call(0, "a", "first", '{"x":'),
      call(1, undefined, undefined, '{"y":2}'),
      call(0, undefined, undefined, "1}"),
      delta({}, "tool_calls"),
      DONE,
    );
    expect(callsOf(seen)).toEqual([
      ["first", { x: 1 }],
      ["second", { y: 2 }],
    ]);
    expect(seen.at(-1)).toEqual({ type: "stop", reason: "tool_calls" });
  });

  it("emits a call early only when a later one has begun and it is complete", () => {
    const whole = events(call(0, "a", "first", '{"x":1}'));
    expect(callsOf(whole)).toEqual([]);
    expect(callsOf(events(call(0, "a", "first", '{"x":1}'), call(1, "b", "second", "")))).toEqual([
      ["first", { x: 1 }],
    ]);
    expect(callsOf(events(call(0, "a", "first", '{"x":'), call(1, "b", "second", "{}")))).toEqual([]);
    expect(callsOf(events(call(0, "a", "first", ""), call(1, "b", "second", "{}")))).toEqual([]);
    expect(callsOf(events(call(1, "b", "second", "{}"), call(2, "c", "third", "{}")))).toEqual([]);
  });

  it("does not take arguments for complete because they could be", () => {
    const seen = events(
      call(0, "a", "find", '{"q": "a"}'),
      call(0, undefined, undefined, ', "n": 1}'),
      delta({}, "stop"),
      DONE,
    );
    expect(callsOf(seen)).toEqual([["find", '{"q": "a"}, "n": 1}']]);
  });

  it.each([
    [
      "whole calls in one delta",
      [
        delta({
          tool_calls: [
            { index: 0, id: "a", function: { name: "f", arguments: "{}" } },
            { index: 1, id: "b", function: { name: "g", arguments: "{}" } },
          ],
        }),
      ],
    ],
    ["no index", [call(undefined, "a", "f", "{}"), call(undefined, "b", "g", "{}")]],
    [
      "no index, in pieces",
      [call(undefined, "a", "f", "{"), call(undefined, undefined, undefined, "}"), call(undefined, "b", "g", "{}")],
    ],
    ["neither index nor id", [call(undefined, undefined, "f", "{}"), call(undefined, undefined, "g", "{}")]],
    ["index 0 for all", [call(0, "a", "f", "{}"), call(0, "b", "g", "{}")]],
    [
      "index 0 for all, in pieces",
      [
        call(0, "a", "f", ""),
        call(0, undefined, undefined, "{}"),
        call(0, "b", "g", ""),
        call(0, undefined, undefined, "{}"),
      ],
    ],
    [
      "id and name in every piece",
      [call(0, "a", "f", ""), call(0, "a", "f", "{}"), call(1, "b", "g", "{"), call(1, "b", "g", "}")],
    ],
    ["another id in every piece", [call(0, "a", "f", "{"), call(0, "a2", undefined, "}"), call(1, "b", "g", "{}")]],
    ["a late name", [call(0, "a", undefined, "{"), call(0, undefined, "f", "}"), call(1, "b", "g", "{}")]],
    ["an empty piece after the end", [call(0, "a", "f", "{}"), call(0, undefined, "f", ""), call(1, "b", "g", "{}")]],
    ["arguments as an object, or none", [call(0, "a", "f", {}), call(1, "b", "g", null)]],
  ])("understands servers that send %s", (_, stream) => {
    expect(callsOf(events(...stream, DONE))).toEqual([
      ["f", {}],
      ["g", {}],
    ]);
  });

  it("keeps the spelling of arguments for those who compare it", () => {
    const [block] = blocksOf(events(call(0, "a", "f", '{ "x": 1 }'), DONE));
    expect(block).toEqual({ type: "tool_call", tool: "f", args: { x: 1 } });
    if (block?.type === "tool_call") expect(argumentsAsWritten(block)).toBe('{ "x": 1 }');
  });

  it("closes text before the calls that follow it", () => {
    const seen = events(delta({ content: "Looking." }), call(0, "a", "f", "{}"), delta({}, "tool_calls"), DONE);
    expect(blocksOf(seen).map((block) => block.type)).toEqual(["text", "tool_call"]);
  });

  it.each([
    ["stop", "end"],
    ["length", "length"],
    ["content_filter", "refusal"],
    ["tool_calls", "end"],
    ["eos", "end"],
  ])("reads the finish reason %s without calls as %s", (theirs, ours) => {
    expect(events(delta({ content: "x" }, theirs), DONE).at(-1)).toEqual({ type: "stop", reason: ours });
  });

  it("shows a refusal and says that it is one", () => {
    const seen = events(delta({ refusal: "I cannot." }), delta({}, "stop"), DONE);
    expect(seen[0]).toEqual({ type: "text", text: "I cannot." });
    expect(seen.at(-1)).toEqual({ type: "stop", reason: "refusal" });
  });

  it("is complete with [DONE], or with a finish reason when the bytes end, and reads nothing after [DONE]", () => {
    expect(events(delta({ content: "a" }), DONE, "garbage").at(-1)).toEqual({ type: "stop", reason: "end" });
    expect(events(delta({ content: "a" }, "stop")).at(-1)).toEqual({ type: "stop", reason: "end" });
    expect(events(delta({ content: "a" }, ""))).toMatchObject([
      {},
      { failure: { reason: "StreamInterrupted", retryable: true } },
    ]);
    expect(events()).toMatchObject([{ failure: { reason: "StreamInterrupted" } }]);
  });

  it.each<[string, JsonObject, string]>([
    ["an error", { error: { message: "no", type: "server_error" } }, "ProviderFailed"],
    ["an error as text", { error: "no" }, "ProviderFailed"],
    ["a status", { error: { message: "no", code: 429 } }, "RateLimited"],
    ["a code", { error: { message: "no", code: "CONTEXT_LENGTH_EXCEEDED" } }, "ContextTooLong"],
    ["an error beside choices", { ...delta({ content: "" }), error: { code: 400, message: "no" } }, "BadRequest"],
    ["an error object", { object: "error", message: "no", code: 404, type: "NotFoundError" }, "MalformedResponse"],
  ])("ends with a failure at %s", (_, chunk, reason) => {
    const seen = events(delta({ content: "Half" }), chunk, delta({ content: "more" }), DONE);
    expect(seen).toMatchObject([
      { type: "text", text: "Half" },
      { type: "failure", failure: { reason } },
    ]);
  });

  it("understands an error that the event's name tells", () => {
    const stream = 'event: error\ndata: {"message":"broken","code":"provider_error","type":"server_error"}\n\n';
    expect(replay(openaiChat, CONTEXT, [Buffer.from(stream)])).toMatchObject([
      { type: "failure", failure: { reason: "ProviderFailed", message: "openai failed: broken" } },
    ]);
    expect(events(delta({ content: "x" }, "error"), DONE).at(-1)).toMatchObject({
      failure: { reason: "ProviderFailed" },
    });
    expect(events("{bad")).toMatchObject([{ failure: { reason: "MalformedResponse" } }]);
  });
});

describe("[M1 M2] a request to Chat Completions", () => {
  const encode = (messages: readonly Message[], more: Partial<ModelRequest> = {}, family = "openai") =>
    openaiChat.encode({ model: "m", system: "", messages, tools: [], ...more }, { baseUrl: "https://host/v1", family });
  const said = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });
  const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;

  it("has system, tools and limits under the name the family knows", () => {
    const tools = [{ name: "read", description: "Reads.", inputSchema: { type: "object" } }];
    const { body, url } = encode([said("Hi")], { system: "Be brief.", tools, maxOutputTokens: 50 });
    expect(url).toBe("https://host/v1/chat/completions");
    expect(body).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: "function", function: { name: "read", description: "Reads.", parameters: { type: "object" } } }],
      max_completion_tokens: 50,
    });
    expect(encode([said("Hi")], { maxOutputTokens: 50 }, "groq").body).toMatchObject({ max_tokens: 50 });
    expect(openaiChat.authorize("k")).toEqual({ authorization: "Bearer k" });
  });

  it("answers each call with a separate message, with images after them", () => {
    const result = (id: "call_1" | "call_2", content: readonly (typeof image | { type: "text"; text: string })[]) =>
      ({ type: "tool_result", call: id, tool: "read", content, is_error: false }) as const;
    const { body } = encode([
      said("Go"),
      {
        role: "assistant",
        content: [
          { type: "text", text: "Reading." },
          { type: "tool_use", call: "call_1", tool: "read", args: { path: "a" } },
          { type: "tool_use", call: "call_2", tool: "read", args: {}, malformed: "{cut" },
        ],
      },
      { role: "user", content: [result("call_1", [image]), result("call_2", []), { type: "text", text: "And?" }] },
    ]);
    const url = "data:image/png;base64,AAAA";
    expect(body.messages).toEqual([
      { role: "user", content: "Go" },
      {
        role: "assistant",
        content: "Reading.",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
          { id: "call_2", type: "function", function: { name: "read", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "(an image, below)" },
      { role: "tool", tool_call_id: "call_2", content: "(no output)" },
      {
        role: "user",
        content: [
          { type: "text", text: "Images from the tool results above:" },
          { type: "image_url", image_url: { url } },
          { type: "text", text: "And?" },
        ],
      },
    ]);
  });

  it("returns thinking in its field while the answer continues, and not after it", () => {
    const thought = { type: "thinking", text: "Hm", provider: "openai", opaque: { field: "reasoning" } } as const;
    const foreign = { type: "thinking", text: "No", provider: "anthropic", opaque: { signature: "s" } } as const;
    const step: readonly Message[] = [
      said("Go"),
      { role: "assistant", content: [thought, foreign, { type: "tool_use", call: "call_1", tool: "f", args: {} }] },
      { role: "user", content: [{ type: "tool_result", call: "call_1", tool: "f", content: [], is_error: false }] },
    ];
    expect(encode(step).body.messages).toHaveProperty("[1].reasoning", "Hm");
    const later = encode([...step, { role: "assistant", content: [{ type: "text", text: "Done" }] }, said("Next")]);
    expect(later.body.messages).not.toHaveProperty("[1].reasoning");
    expect(JSON.stringify(encode(step).body)).not.toContain("No");
    expect(later.body.messages).toHaveProperty("[1].content", null);
  });

  it("lets an endpoint add fields and take some away", () => {
    const target = { baseUrl: "https://host/v1", family: "x", extra: { stream_options: undefined, temperature: 0 } };
    const { body } = openaiChat.encode({ model: "m", system: "", messages: [said("Hi")], tools: [] }, target);
    expect(JSON.parse(JSON.stringify(body))).toEqual({
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      temperature: 0,
    });
  });
});
