import { describe, expect, it } from "vitest";
import type { ModelEvent, ModelRequest } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { replay } from "./framing.js";
import { ollama } from "./ollama.js";

const TOOLS = [{ name: "read", description: "Reads.", inputSchema: { type: "object" } }];
const CONTEXT = {
  provider: "ollama",
  family: "ollama",
  model: "qwen",
  url: "http://127.0.0.1:11434/api/chat",
  tools: TOOLS,
};

function events(...data: readonly (JsonObject | string)[]): readonly ModelEvent[] {
  const lines = data.map((item) => `${typeof item === "string" ? item : JSON.stringify(item)}\n`).join("");
  return replay(ollama, CONTEXT, [Buffer.from(lines)]);
}

const say = (content: string, more: JsonObject = {}) => ({
  message: { role: "assistant", content, ...more },
  done: false,
});
const done = (more: JsonObject = {}) => ({ message: { content: "" }, done: true, done_reason: "stop", ...more });
const blocksOf = (all: readonly ModelEvent[]) => all.flatMap((event) => (event.type === "block" ? [event.block] : []));

describe("[M1 M2] the stream of Ollama", () => {
  it("gives thinking, text, usage and the stop reason", () => {
    const seen = events(
      say("", { thinking: "Hm" }),
      say("", { thinking: "m." }),
      say("Hel"),
      say("lo"),
      done({ prompt_eval_count: 7, eval_count: 3 }),
    );
    expect(seen).toEqual([
      { type: "thinking", text: "Hm" },
      { type: "thinking", text: "m." },
      { type: "block", block: { type: "thinking", text: "Hmm.", provider: "ollama" } },
      { type: "text", text: "Hel" },
      { type: "text", text: "lo" },
      { type: "block", block: { type: "text", text: "Hello" } },
      { type: "usage", usage: { input: 7, output: 3, cache_read: 0, cache_write: 0, reasoning: 0 } },
      { type: "stop", reason: "end" },
    ]);
  });

  it("gives calls at once and says that it stopped for them, whatever the server says", () => {
    const calls = [
      { function: { name: "read", arguments: { path: "a" } } },
      { function: { name: "read", arguments: '{"path":"b"}' } },
    ];
    const seen = events(say("Reading."), say("", { tool_calls: calls }), done());
    expect(blocksOf(seen)).toEqual([
      { type: "text", text: "Reading." },
      { type: "tool_call", tool: "read", args: { path: "a" } },
      { type: "tool_call", tool: "read", args: { path: "b" } },
    ]);
    expect(seen.at(-1)).toEqual({ type: "stop", reason: "tool_calls" });
  });

  it("recovers a call that was written as text", () => {
    const seen = events(say('{"name": "re'), say('ad", "arguments": {"path": "a"}}'), done());
    expect(seen.filter((event) => event.type === "text")).toEqual([]);
    expect(blocksOf(seen)).toEqual([{ type: "tool_call", tool: "read", args: { path: "a" } }]);
    expect(seen.at(-1)).toEqual({ type: "stop", reason: "tool_calls" });
  });

  it("stops at the length limit", () => {
    expect(events(say("x"), done({ done_reason: "length" })).at(-1)).toEqual({ type: "stop", reason: "length" });
  });

  it("ends with a failure at an error, and shows what it had held back", () => {
    const seen = events(say('{"name": "read", "arg'), { error: "an error was encountered while running the model" });
    expect(seen).toMatchObject([
      { type: "text", text: '{"name": "read", "arg' },
      { type: "failure", failure: { reason: "ProviderFailed", retryable: true } },
    ]);
    const memory = events({ error: "model requires more system memory (9.1 GiB) than is available (4.2 GiB)" });
    expect(memory).toMatchObject([{ failure: { reason: "ProviderFailed" } }]);
    expect(memory[0]).not.toHaveProperty("failure.retryable");
  });

  it("does not take a stream without its end for an answer", () => {
    expect(events(say("half")).at(-1)).toMatchObject({ type: "failure", failure: { reason: "StreamInterrupted" } });
    expect(events("<html>")).toMatchObject([{ failure: { reason: "MalformedResponse" } }]);
  });
});

describe("[M1 M2] a request to Ollama", () => {
  const encode = (messages: readonly Message[], more: Partial<ModelRequest> = {}, target: JsonObject = {}) =>
    ollama.encode(
      { model: "qwen", system: "", messages, tools: [], ...more },
      { baseUrl: "http://127.0.0.1:11434", family: "ollama", ...target },
    );
  const said = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });
  const contextFor = (...parameters: Parameters<typeof encode>) => encode(...parameters).body.options;

  it("keeps content a string, names the tool of a result and does not speak of thinking", () => {
    const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
    const { url, body } = encode(
      [
        { role: "user", content: [image] },
        {
          role: "assistant",
          content: [
            { type: "thinking", text: "Hm", provider: "ollama" },
            { type: "tool_use", call: "call_1", tool: "read", args: { path: "a" } },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              call: "call_1",
              tool: "read",
              content: [{ type: "text", text: "A" }],
              is_error: false,
            },
          ],
        },
      ],
      { tools: TOOLS, system: "Be brief." },
    );
    expect(url).toBe("http://127.0.0.1:11434/api/chat");
    expect(body).toEqual({
      model: "qwen",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "", images: ["AAAA"] },
        {
          role: "assistant",
          content: "",
          thinking: "Hm",
          tool_calls: [{ id: "call_1", function: { name: "read", arguments: { path: "a" } } }],
        },
        { role: "tool", tool_name: "read", tool_call_id: "call_1", content: "A" },
      ],
      stream: true,
      tools: [{ type: "function", function: { name: "read", description: "Reads.", parameters: { type: "object" } } }],
      truncate: false,
      options: { num_ctx: 8192 },
    });
  });

  it("sizes the context to the request, in doublings, up to what the model can", () => {
    expect(contextFor([said("Hi")])).toEqual({ num_ctx: 8192 });
    expect(contextFor([said("Hi")], { maxOutputTokens: 100 })).toEqual({ num_ctx: 4096, num_predict: 100 });
    expect(contextFor([said("x".repeat(30_000))])).toEqual({ num_ctx: 16_384 });
    expect(contextFor([said("x".repeat(300_000))], {}, { maxContextTokens: 40_960 })).toEqual({ num_ctx: 40_960 });
    expect(contextFor([said("Hi")], { maxOutputTokens: 6000 })).toEqual({ num_ctx: 8192, num_predict: 6000 });
    const picture: Message = {
      role: "user",
      content: [{ type: "image", media_type: "image/png", data: "A".repeat(900_000) }],
    };
    expect(contextFor([picture])).toEqual({ num_ctx: 8192 });
  });

  it("takes what an endpoint adds", () => {
    const { body } = encode([said("Hi")], {}, { extra: { think: true, options: { num_ctx: 2048, temperature: 0 } } });
    expect(body).toMatchObject({ think: true, options: { num_ctx: 2048, temperature: 0 } });
  });
});
