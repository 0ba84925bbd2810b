import { describe, expect, it } from "vitest";
import type { ModelEvent, ModelRequest } from "../../engine/ports.js";
import type { AssistantBlock, Message } from "../../protocol/content.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import { replay } from "./framing.js";
import { openaiResponses } from "./openai-responses.js";

const CONTEXT = { provider: "openai", family: "openai", model: "gpt", url: "https://host/v1/responses", tools: [] };
const TARGET = { baseUrl: "https://host/v1", family: "openai" };

function events(...data: readonly JsonObject[]): readonly ModelEvent[] {
  const stream = data.map((item) => `event: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`).join("");
  return replay(openaiResponses, CONTEXT, [Buffer.from(stream)]);
}

const added = (index: number, item: JsonObject) => ({ type: "response.output_item.added", output_index: index, item });
const done = (index: number, item: JsonObject) => ({ type: "response.output_item.done", output_index: index, item });
const delta = (index: number, kind: string, text: string) => ({
  type: `response.${kind}.delta`,
  output_index: index,
  delta: text,
});
const ended = (response: JsonObject = {}, how = "completed") => ({
  type: `response.${how}`,
  response: { status: how, ...response },
});
const message = (text: string, more: JsonObject = {}) => ({
  type: "message",
  role: "assistant",
  content: text === "" ? [] : [{ type: "output_text", text }],
  ...more,
});
const blocksOf = (all: readonly ModelEvent[]) => all.flatMap((event) => (event.type === "block" ? [event.block] : []));

describe("[M2] the stream of OpenAI Responses", () => {
  it("is text, thinking and calls in their order, then the counts and the reason to stop", () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [] };
    const call = { type: "function_call", id: "fc_1", call_id: "call_9", name: "read", arguments: "" };
    const summary = [
      { type: "summary_text", text: "Hm." },
      { type: "summary_text", text: "So." },
    ];
    const usage = {
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 20 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 4 },
    };
    expect(
      events(
        { type: "response.created", response: {} },
        added(0, reasoning),
        { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 0 },
        delta(0, "reasoning_summary_text", "Hm."),
        { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 1 },
        delta(0, "reasoning_summary_text", "So."),
        done(0, { ...reasoning, summary, encrypted_content: "secret" }),
        added(1, message("")),
        delta(1, "output_text", "I will"),
        delta(1, "output_text", " look."),
        done(1, message("I will look.", { phase: "commentary" })),
        added(2, call),
        delta(2, "function_call_arguments", '{"path":'),
        delta(2, "function_call_arguments", '"a"}'),
        { type: "response.function_call_arguments.done", output_index: 2, arguments: '{"path":"a"}' },
        done(2, { ...call, arguments: '{"path":"a"}' }),
        ended({ usage }),
      ),
    ).toEqual([
      { type: "thinking", text: "Hm." },
      { type: "thinking", text: "\n\n" },
      { type: "thinking", text: "So." },
      {
        type: "block",
        block: {
          type: "thinking",
          text: "Hm.\n\nSo.",
          provider: "openai",
          opaque: { id: "rs_1", encrypted_content: "secret", summary: ["Hm.", "So."] },
        },
      },
      { type: "text", text: "I will" },
      { type: "text", text: " look." },
      { type: "block", block: { type: "opaque", provider: "openai", data: { type: "message", phase: "commentary" } } },
      { type: "block", block: { type: "text", text: "I will look." } },
      { type: "block", block: { type: "tool_call", tool: "read", args: { path: "a" } } },
      { type: "usage", usage: { input: 10, output: 9, cache_read: 20, cache_write: 0, reasoning: 4 } },
      { type: "stop", reason: "tool_calls" },
    ]);
  });

  it("keeps reasoning as an imported session has it, when its text is all of its summary", () => {
    const item = { type: "reasoning", id: "rs_1", encrypted_content: "secret" };
    const thought = (text: string) => {
      const summary = text === "" ? [] : [{ type: "summary_text", text }];
      return blocksOf(events(added(0, { ...item, summary: [] }), done(0, { ...item, summary }), ended()));
    };
    const opaque = { id: "rs_1", encrypted_content: "secret" };
    expect(thought("")).toEqual([{ type: "thinking", text: "", provider: "openai", opaque }]);
    expect(thought("Hm.")).toEqual([{ type: "thinking", text: "Hm.", provider: "openai", opaque }]);
  });

  it("reads thinking in the clear, as open models send it", () => {
    const item = { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] };
    const seen = events(added(0, { ...item, content: [] }), delta(0, "reasoning_text", "Hm."), done(0, item), ended());
    expect(blocksOf(seen)).toEqual([
      { type: "thinking", text: "Hm.", provider: "openai", opaque: { id: "rs_1", kind: "reasoning_text" } },
    ]);
  });

  it("keeps whole what OpenAI ran itself", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { query: "x" } };
    const seen = events(added(0, { ...search, status: "in_progress" }), done(0, search), ended());
    expect(blocksOf(seen)).toEqual([{ type: "opaque", provider: "openai", data: search }]);
  });

  it("takes a call with plain text as its input", () => {
    const item = { type: "custom_tool_call", call_id: "c", name: "sql", input: "SELECT 1" };
    const seen = events(added(0, { ...item, input: "" }), done(0, item), ended());
    expect(blocksOf(seen)).toEqual([{ type: "tool_call", tool: "sql", args: { input: "SELECT 1" } }]);
    const piece = { type: "response.custom_tool_call_input.delta", output_index: 0, delta: "SELECT 2" };
    const streamed = events(added(0, { ...item, input: "" }), piece, done(0, { ...item, input: "" }), ended());
    expect(blocksOf(streamed)).toEqual([{ type: "tool_call", tool: "sql", args: { input: "SELECT 2" } }]);
    expect(seen.at(-1)).toEqual({ type: "stop", reason: "tool_calls" });
  });

  it("reads a refusal as text that ends the turn", () => {
    const refusal = [{ type: "refusal", refusal: "No." }];
    const seen = events(
      added(0, message("")),
      delta(0, "refusal", "No."),
      done(0, message("", { content: refusal })),
      ended(),
    );
    expect(blocksOf(seen)).toEqual([{ type: "text", text: "No." }]);
    expect(seen.at(-1)).toEqual({ type: "stop", reason: "refusal" });
  });

  it.each([
    ["max_output_tokens", "length"],
    ["content_filter", "refusal"],
    ["something_new", "length"],
  ])("an answer cut for %s ends with %s, and its open items with it", (reason, stop) => {
    const call = { type: "function_call", name: "read", arguments: "" };
    const seen = events(
      added(0, call),
      delta(0, "function_call_arguments", '{"path'),
      ended({ incomplete_details: { reason } }, "incomplete"),
    );
    expect(blocksOf(seen)).toEqual([{ type: "tool_call", tool: "read", args: {}, malformed: '{"path' }]);
    expect(seen.at(-1)).toEqual({ type: "stop", reason: stop });
  });

  it("reads an answer that came without separate events", () => {
    const output = [message("Hi."), { type: "function_call", name: "read", arguments: "{}" }];
    expect(events(ended({ output }))).toEqual([
      { type: "text", text: "Hi." },
      { type: "block", block: { type: "text", text: "Hi." } },
      { type: "block", block: { type: "tool_call", tool: "read", args: {} } },
      { type: "stop", reason: "tool_calls" },
    ]);
  });

  it("shows what a server sends only with the finished item, and closes what it never finishes", () => {
    expect(events(added(0, message("")), done(0, message("All at once.")), ended())[0]).toEqual({
      type: "text",
      text: "All at once.",
    });
    const open = events(delta(0, "output_text", "Unannounced"), ended({ output: [] }));
    expect(blocksOf(open)).toEqual([{ type: "text", text: "Unannounced" }]);
  });

  it("keeps apart items whose events are mixed", () => {
    const call = (name: string) => ({ type: "function_call", name, arguments: "" });
    const seen = events(
      added(0, call("a")),
      added(1, call("b")),
      delta(1, "function_call_arguments", '{"n":2}'),
      delta(0, "function_call_arguments", '{"n":1}'),
      ended(),
    );
    expect(blocksOf(seen)).toEqual([
      { type: "tool_call", tool: "a", args: { n: 1 } },
      { type: "tool_call", tool: "b", args: { n: 2 } },
    ]);
  });

  it.each<[string, JsonObject, object]>([
    ["an error event", { type: "error", code: "rate_limit_exceeded", message: "slow" }, { reason: "RateLimited" }],
    [
      "an error inside",
      { type: "error", error: { code: "insufficient_quota", message: "no" } },
      { reason: "QuotaExceeded" },
    ],
    [
      "a failed response",
      ended({ error: { code: "server_error", message: "oh" } }, "failed"),
      { reason: "ProviderFailed", retryable: true },
    ],
    [
      "a failed response without a word",
      ended({}, "failed"),
      { reason: "ProviderFailed", message: "openai failed: the response ended as failed" },
    ],
    ["another protocol", { object: "chat.completion.chunk", choices: [] }, { reason: "MalformedResponse" }],
  ])("fails with %s", (_, event, failure) => {
    const seen = events(added(0, message("")), delta(0, "output_text", "Half"), event);
    expect(seen[0]).toEqual({ type: "text", text: "Half" });
    expect(seen.at(-1)).toMatchObject({ type: "failure", failure });
  });

  it("is interrupted when the bytes end before the response does", () => {
    expect(events(added(0, message(""))).at(-1)).toMatchObject({ failure: { reason: "StreamInterrupted" } });
  });
});

describe("[M1 M2] a request to OpenAI Responses", () => {
  const encode = (messages: readonly Message[], more: Partial<ModelRequest> = {}) =>
    openaiResponses.encode({ model: "gpt-5", system: "", messages, tools: [], ...more }, TARGET).body;
  const said = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });
  const answered = (...content: readonly AssistantBlock[]): Message => ({ role: "assistant", content });
  const user = (text: string) => ({ role: "user", content: [{ type: "input_text", text }] });

  it("offers a tool of plain text with its grammar, and sends such calls back as they were", () => {
    const patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    const [name, description] = ["apply_patch", "Applies a patch."];
    const freeform = { parameter: "patch", grammar: 'start: "x"' };
    const tools = [{ name, description, inputSchema: { type: "object" }, freeform }];
    const call = "call_1" as CallId;
    const messages: readonly Message[] = [
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", content: [{ type: "tool_use", call, tool: name, args: { patch } }] },
      {
        role: "user",
        content: [
          { type: "tool_result", call, tool: name, content: [{ type: "text", text: "done" }], is_error: false },
        ],
      },
    ];
    const body = encode(messages, { tools });
    const definition = freeform.grammar;
    expect(body.tools).toEqual([
      { type: "custom", name, description, format: { type: "grammar", syntax: "lark", definition } },
    ]);
    expect(body.input).toMatchObject([
      {},
      { type: "custom_tool_call", call_id: call, name, input: patch },
      { type: "custom_tool_call_output", call_id: call, output: "done" },
    ]);
    for (const model of ["gpt-4.1", "gpt-5-chat-latest"])
      expect(encode(messages, { tools, model }).tools).toMatchObject([{ type: "function", name }]);
  });

  it("has the instructions, the tools and the limits, and stores nothing", () => {
    const tools = [{ name: "read", description: "Reads.", inputSchema: { type: "object" } }];
    const request = { model: "gpt-5", system: "Be brief.", messages: [said("Hi")], tools, maxOutputTokens: 50 };
    const encoded = openaiResponses.encode(request, { ...TARGET, extra: { reasoning: { effort: "low" } } });
    expect(encoded.url).toBe("https://host/v1/responses");
    expect(openaiResponses.authorize("k")).toEqual({ authorization: "Bearer k" });
    expect(encoded.body).toEqual({
      model: "gpt-5",
      instructions: "Be brief.",
      input: [user("Hi")],
      tools: [{ type: "function", name: "read", description: "Reads.", parameters: { type: "object" }, strict: false }],
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      max_output_tokens: 50,
      reasoning: { effort: "low" },
    });
  });

  it("asks for no reasoning of models that have none, and for no less than the service allows", () => {
    expect(encode([said("Hi")], { model: "gpt-4o-mini" })).not.toHaveProperty("include");
    expect(encode([said("Hi")], { model: "gpt-5-chat-latest" })).not.toHaveProperty("include");
    expect(encode([said("Hi")], { model: "o4-mini" })).toHaveProperty("include");
    expect(encode([said("Hi")], { maxOutputTokens: 1 })).toMatchObject({ max_output_tokens: 16 });
    const request = { model: "gpt-5", system: "", messages: [said("Hi")], tools: [], maxOutputTokens: 50 };
    const unlimited = openaiResponses.encode(request, { ...TARGET, dialect: { outputLimit: "refused" } });
    expect(unlimited.body).not.toHaveProperty("max_output_tokens");
  });

  it("returns reasoning before what it led to, with calls and results by their ids", () => {
    const thought = (id: string, text: string): AssistantBlock => ({
      type: "thinking",
      text,
      provider: "openai",
      opaque: { id, encrypted_content: `e-${id}` },
    });
    const search = { type: "web_search_call", id: "ws_1" };
    const body = encode([
      said("Go"),
      answered(
        thought("rs_1", "Hm."),
        { type: "opaque", provider: "openai", data: search },
        { type: "thinking", text: "theirs", provider: "anthropic", opaque: { signature: "s" } },
        thought("rs_2", ""),
        { type: "tool_use", call: "call_1", tool: "read", args: { path: "a" } },
        { type: "tool_use", call: "call_2", tool: "my tool", args: {} },
      ),
      {
        role: "user",
        content: [
          { type: "tool_result", call: "call_2", tool: "x", content: [], is_error: false },
          {
            type: "tool_result",
            call: "call_1",
            tool: "read",
            content: [{ type: "text", text: "one" }],
            is_error: true,
          },
        ],
      },
      answered(
        { type: "opaque", provider: "openai", data: { type: "message", phase: "final_answer" } },
        { type: "text", text: "Done." },
      ),
      said("And?"),
    ]);
    const summary = (text: string) => [{ type: "summary_text", text }];
    expect(body.input).toEqual([
      user("Go"),
      { type: "reasoning", id: "rs_1", summary: summary("Hm."), encrypted_content: "e-rs_1" },
      search,
      { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "e-rs_2" },
      { type: "function_call", call_id: "call_1", name: "read", arguments: '{"path":"a"}' },
      { type: "function_call", call_id: "call_2", name: "my_tool", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "one" },
      { type: "function_call_output", call_id: "call_2", output: "(no output)" },
      { role: "assistant", content: "Done.", phase: "final_answer" },
      user("And?"),
    ]);
  });

  it("returns what the stream gave, as it came", () => {
    const summary = [
      { type: "summary_text", text: "a" },
      { type: "summary_text", text: "b" },
    ];
    const item = { type: "reasoning", id: "rs_1", summary, encrypted_content: "secret" };
    const blocks = blocksOf(
      events(
        added(0, { ...item, summary: [] }),
        done(0, item),
        added(1, message("")),
        delta(1, "output_text", "x"),
        done(1, message("x")),
        ended(),
      ),
    );
    const { input } = encode([said("Go"), answered(...(blocks as AssistantBlock[])), said("On")]);
    expect((input as JsonObject[])[1]).toEqual(item);
  });

  it("sends no reasoning that nothing follows, and none without what makes it the same again", () => {
    const reasoning: AssistantBlock = {
      type: "thinking",
      text: "Hm.",
      provider: "openai",
      opaque: { encrypted_content: "e" },
    };
    const bare: AssistantBlock = { type: "thinking", text: "Hm.", provider: "openai" };
    const waiting: AssistantBlock = {
      type: "opaque",
      provider: "openai",
      data: { type: "local_shell_call", call_id: "c" },
    };
    const text: AssistantBlock = { type: "text", text: "a" };
    const items = (...content: readonly AssistantBlock[]) =>
      encode([said("Go"), answered(...content), said("On")]).input as JsonObject[];
    expect(items(text, reasoning)).toHaveLength(3);
    expect(items(bare, text)).toHaveLength(3);
    expect(items(text, reasoning, waiting)).toHaveLength(3);
    expect(items(reasoning, text)[1]).toEqual({
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Hm." }],
      encrypted_content: "e",
    });
  });

  it("returns plain thinking only while its answer continues", () => {
    const plain: AssistantBlock = {
      type: "thinking",
      text: "Hm.",
      provider: "openai",
      opaque: { id: "r", kind: "reasoning_text" },
    };
    const call: AssistantBlock = { type: "tool_use", call: "call_1", tool: "read", args: {} };
    const result: Message = {
      role: "user",
      content: [{ type: "tool_result", call: "call_1", tool: "read", content: [], is_error: false }],
    };
    const reasoning = { type: "reasoning", id: "r", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] };
    expect(encode([said("Go"), answered(plain, call), result]).input).toContainEqual(reasoning);
    expect(encode([said("Go"), answered(plain, call), result, said("On")]).input).not.toContainEqual(reasoning);
  });

  it("sends images in input and in results", () => {
    const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
    const sent = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,AAAA" };
    const body = encode([
      { role: "user", content: [{ type: "text", text: "See" }, image] },
      answered({ type: "tool_use", call: "call_1", tool: "read", args: {} }),
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            call: "call_1",
            tool: "read",
            content: [image, { type: "text", text: "it" }],
            is_error: false,
          },
        ],
      },
    ]);
    expect(body.input).toMatchObject([
      { content: [{ type: "input_text", text: "See" }, sent] },
      { type: "function_call" },
      { type: "function_call_output", output: [sent, { type: "input_text", text: "it" }] },
    ]);
  });
});

describe("[T12] a search of OpenAI", () => {
  const request: ModelRequest = { model: "gpt-5", system: "", messages: [], tools: [], webSearch: true };

  it("is a tool of the request, whose sources are asked for", () => {
    expect(openaiResponses.encode(request, TARGET).body).toMatchObject({
      tools: [{ type: "web_search" }],
      include: ["reasoning.encrypted_content", "web_search_call.action.sources"],
    });
    expect(openaiResponses.encode({ ...request, model: "gpt-4.1" }, TARGET).body.include).toEqual([
      "web_search_call.action.sources",
    ]);
  });

  it("gives the pages that it found and those that the text cites", () => {
    const search = { type: "web_search_call", id: "ws", action: { sources: [{ type: "url", url: "https://a.com" }] } };
    const annotations = [{ type: "url_citation", url: "https://b.com", title: "B" }];
    const content = [{ type: "output_text", text: "hi", annotations }];
    const all = events(
      added(0, { type: "web_search_call", id: "ws" }),
      done(0, search),
      added(1, message("")),
      delta(1, "output_text", "hi"),
      done(1, message("hi", { content })),
      ended(),
    );
    expect(all.filter(({ type }) => type === "source")).toEqual([
      { type: "source", title: "", url: "https://a.com" },
      { type: "source", title: "B", url: "https://b.com" },
    ]);
  });
});
