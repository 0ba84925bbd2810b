import { afterEach, describe, expect, it } from "vitest";
import { askGemini, probe } from "../http-probe.js";
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
  tool read id=own {"path": "a.txt"}
  tool list
  usage input=10 output=20 cache-read=3 reasoning=5
`;

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly name: string; readonly args: object };
}

interface Chunk {
  readonly candidates: readonly {
    readonly content: { readonly parts: readonly Part[] };
    readonly finishReason?: string;
  }[];
  readonly usageMetadata?: object;
}

/** Frames end as Google's do. */
function chunksOf(text: string): readonly Chunk[] {
  expect(text).toMatch(/^data: .*\r\n\r\n$/s);
  return text
    .split("\r\n\r\n")
    .slice(0, -1)
    .map((frame) => JSON.parse(frame.slice("data: ".length)));
}
const partsOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ candidates }) => candidates[0]?.content.parts ?? []);

describe("a stream", () => {
  it("is an answer for each delta, with the counts and the reason in the last", async () => {
    const answer = await askGemini(await start(SCRIPT));
    expect(answer.headers["content-type"]).toBe("text/event-stream");
    const chunks = chunksOf(answer.text);
    expect(partsOf(chunks)).toEqual([
      { text: "Hm.", thought: true },
      { text: "I" },
      { text: " will" },
      { text: " look." },
      { functionCall: { id: "own", name: "read", args: { path: "a.txt" } }, thoughtSignature: expect.any(String) },
      { functionCall: { name: "list", args: {} } },
      { text: "" },
    ]);
    expect(chunks.map(({ candidates }) => candidates[0]?.finishReason).filter(Boolean)).toEqual(["STOP"]);
    expect(chunks.at(-1)?.usageMetadata).toEqual({
      promptTokenCount: 13,
      candidatesTokenCount: 15,
      totalTokenCount: 33,
      cachedContentTokenCount: 3,
      thoughtsTokenCount: 5,
    });
  });

  it("signs its thoughts at the end when they led to no call", async () => {
    const chunks = chunksOf((await askGemini(await start("reply\n  thinking: Hm.\n  text: Hi."))).text);
    expect(partsOf(chunks).at(-1)).toEqual({ text: "", thoughtSignature: expect.any(String) });
  });

  it("is a list without alt=sse", async () => {
    const answer = await askGemini(await start(SCRIPT), {}, { method: "streamGenerateContent" });
    expect(answer.headers["content-type"]).toContain("application/json");
    const chunks: readonly Chunk[] = JSON.parse(answer.text);
    expect(partsOf(chunks)).toHaveLength(7);
  });

  it.each([
    ["length", "MAX_TOKENS"],
    ["refusal", "SAFETY"],
    ['"RECITATION"', "RECITATION"],
  ])("stops for %s as %s", async (stop, word) => {
    const { text } = await askGemini(await start(`reply\n  text: Hi\n  stop ${stop}`));
    expect(text).toContain(`"finishReason":"${word}"`);
  });

  it("ends when the model's arguments are not JSON, as the service does", async () => {
    const chunks = chunksOf((await askGemini(await start('reply\n  tool read raw: {"path'))).text);
    expect(chunks.at(-1)?.candidates[0]).toMatchObject({
      finishReason: "MALFORMED_FUNCTION_CALL",
      finishMessage: 'Malformed function call: read({"path',
    });
  });

  it("is an error when something goes wrong in the middle", async () => {
    const { text } = await askGemini(await start("reply\n  text: a\n  error overloaded"));
    const last = JSON.parse(text.split("\r\n\r\n").at(-2)?.slice("data: ".length) ?? "");
    expect(last).toEqual({
      error: { code: 503, message: "The model is overloaded. Please try again later.", status: "UNAVAILABLE" },
    });
  });
});

it("answers in one piece without a stream", async () => {
  const answer = await askGemini(await start(SCRIPT), {}, { method: "generateContent" });
  const chunk: Chunk = JSON.parse(answer.text);
  expect(partsOf([chunk]).map((part) => part.functionCall?.name ?? part.text)).toEqual([
    "Hm.",
    "I will look.",
    "read",
    "list",
    "",
  ]);
});

it("reads the path, the instruction, the contents and the results for the script's conditions", async () => {
  const url = await start(`
reply
  expect model is "gemini-2.5-pro"
  expect system contains "brief"
  expect last-user contains "What"
  expect tool-results contains "one"
  expect tools contains "read"
  expect wire is "gemini"
  expect stream is true
  text: Hi.
`);
  const fields = {
    systemInstruction: { parts: [{ text: "Be brief." }] },
    tools: [{ functionDeclarations: [{ name: "read", description: "" }] }],
    contents: [
      { role: "user", parts: [{ text: "What?" }] },
      { role: "model", parts: [{ functionCall: { name: "read", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "one" } } }] },
    ],
  };
  expect((await askGemini(url, fields, { model: "gemini-2.5-pro" })).status).toBe(200);
  expect(mock.failures).toEqual([]);
  expect(mock.requests[0]).toMatchObject({ model: "gemini-2.5-pro", messages: 3 });
});

describe("lookups", () => {
  const headers = { "x-goog-api-key": "any" };

  it("lists the models, shows one and counts tokens", async () => {
    const url = await start("model small context=2048\nreply\n  text: hi");
    const { models } = JSON.parse((await probe(`${url}/v1beta/models`, { headers })).text);
    expect(models).toMatchObject([{ name: "models/small", inputTokenLimit: 2048 }]);
    expect(JSON.parse((await probe(`${url}/v1beta/models/small`, { headers })).text)).toEqual(models[0]);
    expect((await probe(`${url}/v1beta/models/large`, { headers })).status).toBe(404);
    const counted = await askGemini(url, {}, { model: "small", method: "countTokens" });
    expect(JSON.parse(counted.text).totalTokens).toBeGreaterThan(5);
    expect((await probe(`${url}/v1beta/nothing`, { headers })).status).toBe(404);
    expect(mock.requests).toEqual([]);
  });

  it("wants a key, in a header or in the address, and remembers none", async () => {
    const url = await start("reply times=2\n  text: hi", { key: "right" });
    const fields = { contents: [{ parts: [{ text: "Hi" }] }] };
    expect((await askGemini(url, fields, { headers: {} })).status).toBe(403);
    const wrong = await askGemini(url, fields);
    expect([wrong.status, JSON.parse(wrong.text).error]).toMatchObject([
      400,
      { details: [{ reason: "API_KEY_INVALID" }] },
    ]);
    expect((await askGemini(url, fields, { headers: { "x-goog-api-key": "right" } })).status).toBe(200);
    const method = "streamGenerateContent?alt=sse&key=right";
    expect((await askGemini(url, fields, { headers: {}, method })).status).toBe(200);
    expect(JSON.stringify(mock.requests)).not.toContain("right");
  });
});

describe("refusals", () => {
  const text = (role: string, value = "a") => ({ role, parts: [{ text: value }] });
  const call = { role: "model", parts: [{ functionCall: { name: "read", args: { n: 1 } } }] };
  const result = { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "x" } } }] };
  const schema = (parameters: object) => ({ tools: [{ functionDeclarations: [{ name: "read", parameters }] }] });
  const property = (it: object) => schema({ type: "OBJECT", properties: { it } });

  it.each<[string, object, string]>([
    ["no contents", { contents: [] }, "contents is not specified"],
    ["an unknown field", { messages: [] }, 'Unknown name "messages": Cannot find field.'],
    ["a role that is none", { contents: [text("assistant")] }, "Please use a valid role: user, model."],
    ["no parts", { contents: [{ role: "user", parts: [] }] }, "contents.parts must not be empty"],
    ["an empty part", { contents: [{ role: "user", parts: [{}] }] }, "required oneof field 'data'"],
    [
      "a strange part",
      { contents: [{ role: "user", parts: [{ type: "text", text: "a" }] }] },
      "Unknown name \"type\" at 'contents[0].parts[0]'",
    ],
    ["a call without a result", { contents: [text("user"), call, text("user")] }, "number of function response parts"],
    ["a result without a call", { contents: [text("user"), result] }, "immediately after a function call turn"],
    ["a call at the beginning", { contents: [call, result] }, "immediately after a user turn"],
    ["a call at the end", { contents: [text("user"), call] }, "end with a user role"],
    [
      "a response that is no object",
      {
        contents: [
          text("user"),
          call,
          { role: "user", parts: [{ functionResponse: { name: "read", response: "x" } }] },
        ],
      },
      "google.protobuf.Struct",
    ],
    ["a bad function name", { tools: [{ functionDeclarations: [{ name: "9 lives" }] }] }, "Invalid function name"],
    [
      "a name twice",
      { tools: [{ functionDeclarations: [{ name: "a" }, { name: "a" }] }] },
      "Duplicate function declaration found: a",
    ],
    [
      "a keyword it does not know",
      property({ type: "OBJECT", additionalProperties: false }),
      'Unknown name "additionalProperties" at',
    ],
    ["a list of types", property({ type: ["STRING"] }), "Proto field is not repeating"],
    ["a list of anything", property({ type: "ARRAY" }), "items: missing field"],
    ["numbers to choose from", property({ type: "INTEGER", enum: [1] }), "(TYPE_STRING), 1"],
    [
      "a format it does not know",
      property({ type: "STRING", format: "uri" }),
      "only 'enum' and 'date-time' are supported",
    ],
    [
      "a name that must be there and is not",
      schema({ type: "OBJECT", properties: {}, required: ["a"] }),
      "property is not defined",
    ],
  ])("%s", async (_, fields, message) => {
    const answer = await askGemini(await start("reply\n  text: hi"), fields);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text).error).toMatchObject({
      code: 400,
      status: "INVALID_ARGUMENT",
      message: expect.stringContaining(message),
    });
    expect(mock.failures).toMatchObject([{ kind: "refused" }]);
  });

  it("a signature that is missing in the newest turn, or is on another call", async () => {
    const url = await start('reply\n  tool read {"n": 1}\nreply times=any\n  text: ok');
    const [signed] = partsOf(chunksOf((await askGemini(url)).text));
    const model = "gemini-3-pro-preview";
    const ask = (part: object, more: readonly object[] = []) =>
      askGemini(url, { contents: [text("user"), { role: "model", parts: [part] }, result, ...more] }, { model });
    const bare = { functionCall: { name: "read", args: { n: 1 } } };
    expect((await ask(signed ?? {})).status).toBe(200);
    expect((await ask(bare)).text).toContain("missing a thought_signature");
    expect((await ask(bare, [text("model"), text("user")])).status).toBe(200);
    expect((await ask({ ...bare, thoughtSignature: "skip_thought_signature_validator" })).status).toBe(200);
    const moved = { functionCall: { name: "read", args: { n: 2 } }, thoughtSignature: signed?.thoughtSignature };
    expect((await ask(moved)).text).toContain("Thought signature is not valid");
  });

  it("a model that is not there", async () => {
    const answer = await askGemini(await start("model small\nreply\n  text: hi"), {}, { model: "large" });
    expect([answer.status, JSON.parse(answer.text).error.status]).toEqual([404, "NOT_FOUND"]);
  });
});
