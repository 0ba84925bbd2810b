import { describe, expect, it } from "vitest";
import type { ModelEvent, ModelRequest } from "../../engine/ports.js";
import type { AssistantBlock, Message } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { replay } from "./framing.js";
import { gemini } from "./gemini.js";

const CONTEXT = { provider: "gemini", family: "gemini", model: "m", url: "https://host/", tools: [] };
const TARGET = { baseUrl: "https://host", family: "gemini" };

function events(...data: readonly JsonObject[]): readonly ModelEvent[] {
  const stream = data.map((item) => `data: ${JSON.stringify(item)}\r\n\r\n`).join("");
  return replay(gemini, CONTEXT, [Buffer.from(stream)]);
}

const chunk = (...parts: readonly JsonObject[]) => ({ candidates: [{ content: { role: "model", parts } }] });
const ended = (finishReason = "STOP", more: JsonObject = {}) => ({ candidates: [{ finishReason, ...more }] });
const blocksOf = (all: readonly ModelEvent[]) => all.flatMap((event) => (event.type === "block" ? [event.block] : []));
const call = (name: string, args: JsonObject, more: JsonObject = {}) => ({ functionCall: { name, args }, ...more });
const signature = (text: string, value: string, on: string) => ({
  type: "thinking",
  text,
  provider: "gemini",
  opaque: { signature: value, on },
});

describe("[M2] the stream of Gemini", () => {
  it("is thoughts, text and calls in their order, then the reason to stop", () => {
    const usage = { promptTokenCount: 30, cachedContentTokenCount: 20, candidatesTokenCount: 5, thoughtsTokenCount: 4 };
    expect(
      events(
        chunk({ text: "Hm", thought: true }),
        chunk({ text: ".", thought: true }, { text: "I will" }),
        chunk({ text: " look." }),
        {
          ...chunk(call("read", { path: "a" }, { thoughtSignature: "s1" }), call("list", {})),
          usageMetadata: { promptTokenCount: 30 },
        },
        { ...ended("STOP", { content: { parts: [{ text: "" }] } }), usageMetadata: usage },
      ),
    ).toEqual([
      { type: "thinking", text: "Hm" },
      { type: "thinking", text: "." },
      { type: "block", block: { type: "thinking", text: "Hm.", provider: "gemini" } },
      { type: "text", text: "I will" },
      { type: "text", text: " look." },
      { type: "block", block: { type: "text", text: "I will look." } },
      { type: "block", block: signature("", "s1", "call") },
      { type: "block", block: { type: "tool_call", tool: "read", args: { path: "a" } } },
      { type: "block", block: { type: "tool_call", tool: "list", args: {} } },
      { type: "usage", usage: { input: 30, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 } },
      { type: "usage", usage: { input: 10, output: 9, cache_read: 20, cache_write: 0, reasoning: 4 } },
      { type: "stop", reason: "tool_calls" },
    ]);
  });

  it("lets the thought before a call carry the call's signature", () => {
    const seen = events(
      chunk({ text: "Hm.", thought: true }),
      chunk(call("read", {}, { thoughtSignature: "s" })),
      ended(),
    );
    expect(blocksOf(seen)).toEqual([signature("Hm.", "s", "call"), { type: "tool_call", tool: "read", args: {} }]);
  });

  it("never joins a text that is signed with one that is not", () => {
    const seen = events(
      chunk({ text: "a" }),
      chunk({ text: "b", thoughtSignature: "s1" }),
      chunk({ text: "c" }),
      chunk({ text: "", thoughtSignature: "s2" }),
      chunk({ text: "d", thought: true, thoughtSignature: "s3" }),
      ended(),
    );
    expect(blocksOf(seen)).toEqual([
      { type: "text", text: "a" },
      signature("", "s1", "text"),
      { type: "text", text: "b" },
      { type: "text", text: "c" },
      signature("", "s2", "nothing"),
      signature("d", "s3", "thought"),
    ]);
  });

  it("keeps whole what has no canonical meaning", () => {
    const code = { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "s" };
    const picture = { inlineData: { mimeType: "image/png", data: "AAAA" } };
    const seen = events(chunk({ text: "a" }, code, picture), ended());
    expect(blocksOf(seen)).toEqual([
      { type: "text", text: "a" },
      { type: "opaque", provider: "gemini", data: code },
      { type: "opaque", provider: "gemini", data: picture },
    ]);
  });

  it("puts together arguments that come in pieces", () => {
    const piece = (...partialArgs: readonly JsonObject[]) =>
      chunk({ functionCall: { partialArgs, willContinue: true } });
    const seen = events(
      chunk({ functionCall: { name: "write", willContinue: true }, thoughtSignature: "s" }),
      piece({ jsonPath: "$.files[0].name", stringValue: "a", willContinue: true }),
      piece({ jsonPath: "$.files[0].name", stringValue: ".txt" }),
      piece({ jsonPath: "$.files[0]['line count']", numberValue: 0 }, { jsonPath: "$.files[1]", nullValue: null }),
      piece({ jsonPath: "$.__proto__.x", boolValue: false }),
      chunk({ functionCall: {} }),
      chunk({ functionCall: { name: "list" } }),
      chunk({ functionCall: { name: "open", willContinue: true } }),
      ended(),
    );
    const written = { files: [{ name: "a.txt", "line count": 0 }, null], ["__proto__"]: { x: false } };
    expect(JSON.stringify(blocksOf(seen))).toBe(
      JSON.stringify([
        signature("", "s", "call"),
        { type: "tool_call", tool: "write", args: written },
        { type: "tool_call", tool: "list", args: {} },
        { type: "tool_call", tool: "open", args: {} },
      ]),
    );
  });

  it.each(["files", "$", "$.a[5]", "$..a", "$.text.more", "$[x]"])("never guesses where %s is", (jsonPath) => {
    const seen = events(
      chunk({ functionCall: { name: "write", willContinue: true } }),
      chunk({ functionCall: { partialArgs: [{ jsonPath: "$.text", stringValue: "a" }], willContinue: true } }),
      chunk({ functionCall: { partialArgs: [{ jsonPath, stringValue: "b" }] } }),
      ended(),
    );
    expect(blocksOf(seen)).toMatchObject([
      { type: "tool_call", tool: "write", args: {}, malformed: expect.any(String) },
    ]);
  });

  it.each<[string, string]>([
    ["STOP", "end"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "refusal"],
    ["RECITATION", "refusal"],
    ["PROHIBITED_CONTENT", "refusal"],
    ["SPII", "refusal"],
    ["BLOCKLIST", "refusal"],
    ["SOMETHING_NEW", "end"],
  ])("%s means %s", (finish, reason) => {
    expect(events(chunk({ text: "a" }), ended(finish)).at(-1)).toEqual({ type: "stop", reason });
  });

  it.each<[string, boolean]>([
    ["MALFORMED_FUNCTION_CALL", true],
    ["UNEXPECTED_TOOL_CALL", true],
    ["MISSING_THOUGHT_SIGNATURE", false],
    ["OTHER", true],
  ])("%s is a failure, and says so", (finish, retryable) => {
    const last = events(chunk({ text: "a" }), ended(finish, { finishMessage: "call:read(" })).at(-1);
    expect(last).toMatchObject({ failure: { reason: "ProviderFailed", retryable } });
    expect(JSON.stringify(last)).toContain(`(${finish}): call:read(`);
  });

  it.each<[string, JsonObject, object]>([
    [
      "a prompt that is blocked",
      { promptFeedback: { blockReason: "SAFETY" } },
      { reason: "ContentRefused", message: "gemini refused to answer: it blocked the prompt (SAFETY)" },
    ],
    [
      "an error",
      { error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } },
      { reason: "Overloaded", retryable: true },
    ],
    [
      "an error of ours",
      { error: { code: 400, message: "bad", status: "INVALID_ARGUMENT" } },
      { reason: "BadRequest" },
    ],
  ])("fails with %s", (_, data, failure) => {
    expect(events(data)).toMatchObject([{ type: "failure", failure }]);
  });

  it("is interrupted when the bytes end without a reason, and malformed when they are no JSON", () => {
    expect(events(chunk({ text: "a" })).at(-1)).toMatchObject({ failure: { reason: "StreamInterrupted" } });
    const seen = replay(gemini, CONTEXT, [Buffer.from("data: {private\n\n")]);
    expect(seen).toMatchObject([{ failure: { reason: "MalformedResponse" } }]);
    expect(JSON.stringify(seen)).not.toContain("private");
  });
});

describe("[M1 M2] a request to Gemini", () => {
  const encode = (messages: readonly Message[], more: Partial<ModelRequest> = {}) =>
    gemini.encode({ model: "gemini-2.5-flash", system: "", messages, tools: [], ...more }, TARGET).body;
  const said = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });
  const answered = (...content: readonly AssistantBlock[]): Message => ({ role: "assistant", content });
  const use = (id: string): AssistantBlock => ({ type: "tool_use", call: `call_${id}`, tool: "read", args: { n: id } });
  const result = (id: string, text: string): Message => ({
    role: "user",
    content: [
      { type: "tool_result", call: `call_${id}`, tool: "read", content: [{ type: "text", text }], is_error: false },
    ],
  });
  const partsOf = (body: JsonObject, index: number) => (body.contents as JsonObject[])[index]?.parts;

  it("names the model in its address, and has the system text, the tools and the limits", () => {
    const tools = [
      {
        name: "read",
        description: "Reads.",
        inputSchema: { type: "object", properties: { path: { type: "string" } } },
      },
      { name: "list", description: "Lists.", inputSchema: { type: "object", properties: {} } },
    ];
    const request = {
      model: "gemini-2.5-flash",
      system: "Be brief.",
      messages: [said("Hi")],
      tools,
      maxOutputTokens: 50,
    };
    const extra = { generationConfig: { temperature: 0 }, safetySettings: [] };
    const encoded = gemini.encode(request, { ...TARGET, extra });
    expect(encoded.url).toBe("https://host/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    expect(gemini.authorize("k")).toEqual({ "x-goog-api-key": "k" });
    expect(encoded.body).toEqual({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [
        {
          functionDeclarations: [
            {
              name: "read",
              description: "Reads.",
              parameters: { type: "OBJECT", properties: { path: { type: "STRING" } } },
            },
            { name: "list", description: "Lists." },
          ],
        },
      ],
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      generationConfig: { maxOutputTokens: 50, temperature: 0 },
      safetySettings: [],
    });
  });

  it("returns each signature on the part it came with, and none of other families", () => {
    const seen = events(
      chunk({ text: "Hm.", thought: true }),
      chunk({ text: "a" }),
      chunk({ text: "b", thoughtSignature: "s1" }),
      chunk({ text: "", thoughtSignature: "s2" }),
      chunk({ codeExecutionResult: { outcome: "OUTCOME_OK" } }),
      chunk({ text: "t", thought: true, thoughtSignature: "s4" }),
      chunk(call("read", { n: "1" }, { thoughtSignature: "s3" }), call("read", { n: "2" })),
      ended(),
    );
    let calls = 0;
    const blocks = blocksOf(seen).map(
      (block): AssistantBlock => (block.type === "tool_call" ? use(String(++calls)) : block),
    );
    const foreign: AssistantBlock = { type: "thinking", text: "x", provider: "anthropic", opaque: { signature: "no" } };
    const body = encode([said("Go"), answered(foreign, ...blocks), result("1", "one"), result("2", "two")]);
    expect(partsOf(body, 1)).toEqual([
      { text: "a" },
      { text: "b", thoughtSignature: "s1" },
      { text: "", thoughtSignature: "s2" },
      { codeExecutionResult: { outcome: "OUTCOME_OK" } },
      { text: "t", thought: true, thoughtSignature: "s4" },
      { functionCall: { id: "call_1", name: "read", args: { n: "1" } }, thoughtSignature: "s3" },
      { functionCall: { id: "call_2", name: "read", args: { n: "2" } } },
    ]);
    expect(partsOf(body, 2)).toEqual([
      { functionResponse: { id: "call_1", name: "read", response: { output: "one" } } },
      { functionResponse: { id: "call_2", name: "read", response: { output: "two" } } },
    ]);
  });

  it("gives newer models a placeholder for a missing signature, in every later request too", () => {
    const messages = [
      said("a"),
      answered(use("1")),
      result("1", "x"),
      said("b"),
      answered(use("2"), use("3")),
      result("2", "y"),
    ];
    const body = encode(messages, { model: "gemini-3-pro-preview" });
    expect(partsOf(body, 1)).toMatchObject([{ thoughtSignature: "skip_thought_signature_validator" }]);
    expect(partsOf(body, 3)).toMatchObject([{ thoughtSignature: "skip_thought_signature_validator" }, {}]);
    expect(partsOf(body, 3)).not.toHaveProperty("[1].thoughtSignature");
    expect(JSON.stringify(encode(messages))).not.toContain("thoughtSignature");
  });

  it("sends images in input and after the results they came in, and tells an error as one", () => {
    const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
    const inlineData = { mimeType: "image/png", data: "AAAA" };
    const content = [{ type: "tool_result", call: "call_1", tool: "read", content: [image], is_error: true } as const];
    const body = encode([
      { role: "user", content: [image, { type: "text", text: "See" }] },
      answered(use("1")),
      { role: "user", content },
    ]);
    expect(partsOf(body, 0)).toEqual([{ inlineData }, { text: "See" }]);
    expect(partsOf(body, 2)).toEqual([
      { functionResponse: { id: "call_1", name: "read", response: { error: "(an image, below)" } } },
      { text: "Images from the tool results above:" },
      { inlineData },
    ]);
  });
});
