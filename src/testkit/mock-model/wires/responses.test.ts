import { afterEach, describe, expect, it } from "vitest";
import { askResponses, sseEvents } from "../http-probe.js";
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
  tool read pieces=2 id=call_7 {"path": "a.txt"}
  usage input=10 output=20 cache-read=3 cache-write=4 reasoning=5
`;
const INCLUDE = { include: ["reasoning.encrypted_content"] };

interface Item {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Event {
  readonly type: string;
  readonly sequence_number: number;
  readonly item?: Item;
  readonly delta?: string;
  readonly response?: { readonly output: readonly Item[]; readonly [field: string]: unknown };
}

describe("a stream", () => {
  it("is the service's events in the service's order, numbered", async () => {
    const answer = await askResponses(await start(SCRIPT), INCLUDE);
    expect(answer.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    const events = sseEvents(answer.text);
    const data = events.map((event) => event.data as Event);
    expect(events.map(({ event }) => event)).toEqual(data.map(({ type }) => type));
    expect(data.map((event) => event.sequence_number)).toEqual(data.map((_, index) => index));
    expect(data.map(({ type, delta, item }) => [type.replace("response.", ""), delta ?? item?.type ?? ""])).toEqual([
      ["created", ""],
      ["in_progress", ""],
      ["output_item.added", "reasoning"],
      ["reasoning_summary_part.added", ""],
      ["reasoning_summary_text.delta", "Hm."],
      ["reasoning_summary_text.done", ""],
      ["reasoning_summary_part.done", ""],
      ["output_item.done", "reasoning"],
      ["output_item.added", "message"],
      ["content_part.added", ""],
      ["output_text.delta", "I"],
      ["output_text.delta", " will"],
      ["output_text.delta", " look."],
      ["output_text.done", ""],
      ["content_part.done", ""],
      ["output_item.done", "message"],
      ["output_item.added", "function_call"],
      ["function_call_arguments.delta", '{"path":'],
      ["function_call_arguments.delta", ' "a.txt"}'],
      ["function_call_arguments.done", ""],
      ["output_item.done", "function_call"],
      ["completed", ""],
    ]);
    const last = data.at(-1)?.response;
    expect(last?.output).toEqual(data.filter(({ type }) => type.endsWith("output_item.done")).map(({ item }) => item));
    expect(last).toMatchObject({
      status: "completed",
      usage: {
        input_tokens: 17,
        input_tokens_details: { cached_tokens: 3 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 5 },
        total_tokens: 37,
      },
    });
  });

  it("contains encrypted reasoning only on request", async () => {
    const url = await start(`${SCRIPT}${SCRIPT}`);
    expect((await askResponses(url)).text).not.toContain("encrypted_content");
    expect((await askResponses(url, INCLUDE)).text).toContain('"encrypted_content":"gAAAAAB');
  });

  it.each([
    ["length", "max_output_tokens"],
    ["refusal", "content_filter"],
    ['"own_word"', "own_word"],
  ])("is incomplete when it stops for %s", async (stop, reason) => {
    const { text } = await askResponses(await start(`reply\n  text: Hi\n  stop ${stop}`));
    const last = sseEvents(text).at(-1)?.data;
    expect(last).toMatchObject({ type: "response.incomplete", response: { incomplete_details: { reason } } });
  });

  it("is an error event when something goes wrong in the middle", async () => {
    const { text } = await askResponses(await start("reply\n  text: a\n  error rate-limit"));
    expect(sseEvents(text).at(-1)).toMatchObject({
      event: "error",
      data: { type: "error", code: "rate_limit_exceeded" },
    });
  });
});

it("answers in one piece without a stream", async () => {
  const answer = await askResponses(await start(SCRIPT), { stream: false });
  const { output, status } = JSON.parse(answer.text);
  expect(status).toBe("completed");
  expect(output.map(({ type }: Item) => type)).toEqual(["reasoning", "message", "function_call"]);
  expect(output[2]).toMatchObject({ call_id: "call_7", name: "read", arguments: '{"path": "a.txt"}' });
});

it("reads instructions, input and results for the script's conditions", async () => {
  const url = await start(`
reply
  expect system contains "brief"
  expect last-user is "And now?"
  expect tool-results contains "one"
  expect tools contains "read"
  expect wire is "openai-responses"
  text: Hi.
`);
  const answer = await askResponses(url, {
    instructions: "Be brief.",
    tools: [{ type: "function", name: "read", parameters: {}, strict: false }],
    input: [
      { role: "user", content: [{ type: "input_text", text: "And now?" }] },
      { type: "function_call", call_id: "c", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "one" }] },
    ],
  });
  expect(answer.status).toBe(200);
  expect(mock.failures).toEqual([]);
});

describe("refusals", () => {
  const call = { type: "function_call", call_id: "c1", name: "read", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "c1", output: "one" };
  const user = { role: "user", content: "a" };
  const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" };

  it.each<[string, object, number, string]>([
    ["no model", { model: "" }, 400, "Missing required parameter: 'model'."],
    ["no input", { input: [] }, 400, "Invalid 'input': empty array."],
    ["messages", { messages: [] }, 400, "this parameter has moved to 'input'"],
    ["a limit that is too low", { max_output_tokens: 5 }, 400, "Expected a value >= 16, but got 5"],
    ["a tool of Chat Completions", { tools: [{ type: "function", function: { name: "f" } }] }, 400, "'tools[0].name'"],
    ["a bad tool name", { tools: [{ type: "function", name: "a b", parameters: {} }] }, 400, "does not match pattern"],
    ["a role that is none", { input: [{ role: "tool", content: "x" }] }, 400, "Invalid value: 'tool'."],
    [
      "text of the wrong side",
      { input: [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }] },
      400,
      "Supported values are: 'output_text', 'refusal'.",
    ],
    [
      "an image without a source",
      { input: [{ role: "user", content: [{ type: "input_image" }] }] },
      400,
      "input[0].content[0].image_url",
    ],
    ["a call without a result", { input: [user, call] }, 400, "No tool output found for function call c1."],
    [
      "a result without a call",
      { input: [user, output] },
      400,
      "No tool call found for function call output with call_id c1.",
    ],
    ["reasoning that nothing follows", { input: [user, reasoning, user] }, 400, "without its required following item"],
    [
      "reasoning that was not stored",
      { store: false, input: [user, { type: "reasoning", id: "rs_1", summary: [] }, call, output] },
      404,
      "Items are not persisted",
    ],
    ["reasoning without a summary", { input: [user, { type: "reasoning" }, call, output] }, 400, "input[1].summary"],
    ["a model that is not there", { model: "nowhere" }, 400, "The model `nowhere` does not exist"],
  ])("%s", async (_, fields, status, message) => {
    const answer = await askResponses(await start("model mock-model\nreply\n  text: hi"), fields);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text).error.message).toContain(message);
    expect(mock.failures).toMatchObject([{ kind: "refused" }]);
    expect(mock.unusedReplies).toBe(1);
  });

  it("changed reasoning", async () => {
    const url = await start(`${SCRIPT}reply times=2\n  text: hi`);
    const data = sseEvents((await askResponses(url, INCLUDE)).text).at(-1)?.data as Event;
    const [thought] = data.response?.output ?? [];
    const ask = (encrypted: string) =>
      askResponses(url, { input: [user, { ...thought, encrypted_content: encrypted }, call, output] });
    const encrypted = String(thought?.encrypted_content);
    expect((await ask(encrypted)).status).toBe(200);
    const changed = `${encrypted.slice(0, 40)}${encrypted[40] === "A" ? "B" : "A"}${encrypted.slice(41)}`;
    expect(JSON.parse((await ask(changed)).text).error).toMatchObject({ code: "invalid_encrypted_content" });
  });

  it("a wrong key, and a body that is no JSON", async () => {
    const url = await start("reply\n  text: hi", { key: "right" });
    expect((await askResponses(url)).status).toBe(401);
    const headers = { authorization: "Bearer right" };
    expect((await askResponses(url, {}, { headers })).status).toBe(200);
  });
});
