/** Every wire against servers: this project's mock model, and an external one. */

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unless } from "../../../test/support/needs.js";
import { times } from "../../../test/support/thorough.js";
import type { Model } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import { createHttpClient } from "../../system/http-client.js";
import { type MockModel, startMockModel } from "../../testkit/index.js";
import { createHttpModel } from "../http-model.js";
import { anthropic } from "./anthropic.js";
import { gemini } from "./gemini.js";
import { ollama } from "./ollama.js";
import { openaiChat } from "./openai-chat.js";
import { openaiResponses } from "./openai-responses.js";
import { converse } from "./test-support/converse.js";
import { findPackage } from "./test-support/optional-package.js";
import type { Wire } from "./wire.js";

const http = createHttpClient();

interface Row {
  readonly name: string;
  readonly wire: Wire<unknown>;
  readonly model: string;
  readonly path: string;
}

const ROWS: readonly Row[] = [
  { name: "anthropic", wire: anthropic as Wire<unknown>, model: "claude-sonnet-4-5", path: "" },
  { name: "openai-chat", wire: openaiChat as Wire<unknown>, model: "gpt-5", path: "/v1" },
  { name: "openai-responses", wire: openaiResponses as Wire<unknown>, model: "gpt-5", path: "/v1" },
  { name: "gemini", wire: gemini as Wire<unknown>, model: "gemini-3-pro-preview", path: "" },
  { name: "ollama", wire: ollama as Wire<unknown>, model: "mock-model", path: "" },
];

function open({ name, wire, model, path }: Row, url: string): Model {
  const endpoint = { provider: name, family: name, baseUrl: url + path, key: "any", local: true };
  return createHttpModel({ wire, endpoint, model, http });
}

const said = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });
const TOOLS = ["read", "list"].map((name) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      path: { type: "string", format: "uri-reference" },
      limit: { type: ["integer", "null"], enum: [1, 2, null] },
    },
    additionalProperties: false,
  },
}));
const IMAGE = { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" } as const;

describe.each(ROWS)("[M2] $name on this project's mock model", (row) => {
  const SCRIPT = `
reply
  expect tools contains "read"
  expect system contains "brief"
  thinking: First I look.
  text: I will look.
  tool read {"path": "a.txt"}
  tool list {}
  usage input=10 output=20 cache-read=3 reasoning=5
reply
  expect tool-results contains "result of list"
  thinking: Once more.
  tool read {"path": "b.txt"}
reply
  expect last-tool-result contains "result of read"
  thinking: Now I know.
  text: It says two.
reply
  expect last-user contains "Thanks"
  text: You are welcome.
`;
  let mock: MockModel;
  const start = async (script: string) => {
    mock = await startMockModel({ script });
    return open(row, mock.url);
  };

  it.each(["", `  split ${times(6, 1)}`, "  split random 7"])(
    "goes through a loop with tools and thinking (%s)",
    async (split) => {
      const model = await start(SCRIPT.replaceAll("\nreply\n", `\nreply\n${split}\n`));
      const run = ({ tool }: { tool: string }) => [{ type: "text" as const, text: `result of ${tool}` }];
      const first = await converse(model, { system: "Be brief.", tools: TOOLS, messages: [said("Look.")], run });
      const second = await converse(model, {
        system: "Be brief.",
        tools: TOOLS,
        messages: [...first.messages, said("Thanks!")],
        run,
      });
      await mock.close();
      expect(mock.failures).toEqual([]);
      expect(first).toMatchObject({ text: "It says two." });
      expect(first.messages.map(({ content }) => content.filter(({ type }) => type === "tool_use").length)).toEqual([
        0, 2, 0, 1, 0, 0,
      ]);
      expect(second).toMatchObject({ text: "You are welcome." });
      const thought = first.calls[0]?.map((event) => (event.type === "thinking" ? event.text : "")).join("");
      expect(thought).toBe("First I look.");
      const usage = first.calls[0]?.findLast((event) => event.type === "usage");
      expect(usage).toMatchObject({ usage: { output: 20 } });
      if (row.name !== "ollama") expect(usage).toMatchObject({ usage: { cache_read: 3 } });
    },
  );

  it("sends images of the user and of a tool", async () => {
    const model = await start('reply\n  tool read {"path": "a.png"}\nreply\n  text: A dot.');
    const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "See:" }, IMAGE] }];
    const seen = await converse(model, { tools: TOOLS, messages, run: () => [{ type: "text", text: "Here:" }, IMAGE] });
    await mock.close();
    expect(mock.failures).toEqual([]);
    expect(seen.text).toBe("A dot.");
    for (const [index, request] of mock.requests.entries()) {
      expect(JSON.stringify(request.body).split(IMAGE.data)).toHaveLength(index + 2);
    }
  });

  it.each<[string, string, object]>([
    ["error rate-limit retry-after=2", "RateLimited", { retryable: true, retry_after_ms: 2000 }],
    ["error overloaded", "Overloaded", { retryable: true }],
    ["error too-long", "ContextTooLong", {}],
    ["error not-found", "ModelNotFound", {}],
    ["error server", "ProviderFailed", { retryable: true }],
    ["text: Half\n  error overloaded", "", { retryable: true }],
    ["text: Half\n  cut", "StreamInterrupted", { retryable: true }],
    ["text: Half\n  drop", "StreamInterrupted", { retryable: true }],
    ["text: Half\n  garbage: {bad", "MalformedResponse", {}],
    ['html 200 "<html><title>Sign in</title></html>"', "MalformedResponse", {}],
  ])("tells what went wrong: %s", async (action, reason, traits) => {
    const model = await start(`reply\n  ${action}`);
    const { failure, text } = await converse(model, { messages: [said("Hi")], run: () => [] });
    await mock.close();
    expect(failure).toMatchObject({ ...(reason !== "" && { reason }), ...traits });
    expect(text).toBe(action.startsWith("text") ? "Half" : "");
  });

  it.each(ROWS.filter(({ name }) => name !== row.name).map(({ name }) => [name]))(
    "continues a conversation that began with %s",
    async (before) => {
      const other = ROWS.find(({ name }) => name === before) as Row;
      const run = () => [{ type: "text" as const, text: "ok" }];
      mock = await startMockModel({ script: SCRIPT.replaceAll(/\n {2}expect.*/g, "") });
      const first = await converse(open(other, mock.url), { tools: TOOLS, messages: [said("Look.")], run });
      const second = await converse(open(row, mock.url), {
        tools: TOOLS,
        messages: [...first.messages, said("On.")],
        run,
      });
      await mock.close();
      expect(mock.failures).toEqual([]);
      expect(second.text).toBe("You are welcome.");
      expect(JSON.stringify(mock.requests.at(-1)?.body)).not.toContain("First I look.");
    },
  );

  it("continues in the middle of a turn that another model began", async () => {
    mock = await startMockModel({ script: "reply\n  text: Done." });
    const messages: Message[] = [
      said("Look."),
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "theirs", provider: "another", opaque: { signature: "x", encrypted_content: "y" } },
          { type: "tool_use", call: "call_a", tool: "read", args: {} },
          { type: "tool_use", call: "call_b", tool: "read", args: {} },
        ],
      },
    ];
    const seen = await converse(open(row, mock.url), { tools: TOOLS, messages, run: () => [] });
    await mock.close();
    expect(mock.failures).toEqual([]);
    expect(seen.text).toBe("Done.");
  });
});

/* ---- a mock model of another project ---- */

interface ForeignMock {
  readonly url: string;
  addFixtures(fixtures: readonly object[]): void;
  start(): Promise<unknown>;
  stop(): Promise<void>;
}

const aimock = findPackage("@copilotkit/aimock", process.env.OXBOW_TEST_PACKAGES);

const whyNoAimock = aimock === undefined ? "needs @copilotkit/aimock: npm ci --prefix test/packages" : undefined;

describe.each(ROWS)("[M2] $name on aimock", (row) => {
  const { it } = unless(whyNoAimock);
  let mock: ForeignMock;

  beforeAll(async () => {
    if (whyNoAimock !== undefined) return;
    const { LLMock } = await import(pathToFileURL(join(aimock ?? "", "dist", "index.js")).href);
    mock = new LLMock({ port: 0 });
    mock.addFixtures([
      {
        match: { userMessage: "weather", hasToolResult: true },
        response: { content: "It is sunny.", reasoning: "So." },
      },
      {
        match: { userMessage: "weather" },
        response: {
          toolCalls: [
            { name: "read", arguments: '{"path":"a.txt"}' },
            { name: "list", arguments: "{}" },
          ],
        },
      },
      { match: { userMessage: "hello" }, response: { content: "Hello to you, Grüße 👋." } },
      {
        match: { userMessage: "fail" },
        response: { error: { message: "Slow down", type: "rate_limit_error" }, status: 429 },
      },
    ]);
    await mock.start();
  });
  afterAll(() => mock?.stop());

  const ask = (text: string) =>
    converse(open(row, mock.url), {
      system: "Be brief.",
      tools: TOOLS,
      messages: [said(text)],
      run: ({ tool }) => [{ type: "text", text: `result of ${tool}` }],
    });

  it("says something", async () => {
    const seen = await ask("hello");
    expect(seen.failure).toBeUndefined();
    expect(seen.text).toBe("Hello to you, Grüße 👋.");
    expect(seen.calls[0]?.at(-1)).toEqual({ type: "stop", reason: "end" });
  });

  it("calls tools and takes their results", async () => {
    const seen = await ask("weather");
    expect(seen.failure).toBeUndefined();
    expect(seen.text).toBe("It is sunny.");
    expect(seen.messages[1]?.content.filter(({ type }) => type === "tool_use")).toMatchObject([
      { tool: "read", args: { path: "a.txt" } },
      { tool: "list", args: {} },
    ]);
  });

  it("tells what went wrong", async () => {
    expect((await ask("fail")).failure).toMatchObject({ reason: "RateLimited", status: 429 });
  });
});
