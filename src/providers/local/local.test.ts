import { afterEach, describe, expect, it } from "vitest";
import { type Clock, ManualClock, systemClock } from "../../base/clock.js";
import type { ModelEvent, ModelRequest } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import { createHttpClient } from "../../system/http-client.js";
import { type MockModel, startMockModel } from "../../testkit/mock-model/server.js";
import { createHttpModel } from "../http-model.js";
import { loadWire } from "../named.js";
import { asObject } from "../wire/fields.js";
import { withLocalCare } from "./local-chat.js";
import { createLocalOllama, type LocalOptions } from "./local-ollama.js";

let mock: MockModel;
const http = createHttpClient();
afterEach(async () => {
  http.close();
  await mock.close();
});

const TOOLS = [
  {
    name: "read",
    description: "Reads.",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
];

type OpenOptions = LocalOptions & { readonly clock?: Clock; readonly model?: string; readonly wire?: "openai-chat" };

async function open(script: string, { wire = undefined, model = "mock-model", ...more }: OpenOptions = {}) {
  mock = await startMockModel({ script, seed: 1, ...(more.clock && { clock: more.clock }) });
  const name = wire ?? "ollama";
  const endpoint = {
    provider: name,
    family: name,
    baseUrl: name === "ollama" ? mock.url : `${mock.url}/v1`,
    local: true,
  } as const;
  const options = { endpoint, model, http, clock: systemClock, wire: await loadWire(name), ...more };
  return name === "ollama" ? createLocalOllama(options) : withLocalCare(createHttpModel(options));
}

const said = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });

async function ask(model: Awaited<ReturnType<typeof open>>, text: string, more: Partial<ModelRequest> = {}) {
  const request: ModelRequest = {
    model: model.model,
    system: "",
    messages: [said(text)],
    tools: [],
    maxOutputTokens: 100,
    ...more,
  };
  const events: ModelEvent[] = [];
  for await (const batch of model.stream(request, { model, signal: new AbortController().signal }))
    events.push(...batch);
  return events;
}

const noticesOf = (events: readonly ModelEvent[]) => events.filter((event) => event.type === "notice");
const sizes = () => mock.requests.map(({ body }) => asObject(asObject(body).options).num_ctx);
/** The mock counts a token for four letters, we one for three at first. */
const tokens = (count: number) => "word".repeat(count);

describe("[M20] a model of Ollama", () => {
  it("is given a context that grows with the session, in steps, and not beyond the model's own", async () => {
    const model = await open("model mock-model context=20000\nreply times=any\n  text: ok");
    for (const size of [10, 1000, 5000, 10, 17_000]) await ask(model, tokens(size));
    expect(sizes()).toEqual([4096, 4096, 8192, 8192, 20_000]);
    expect(mock.lookups.map(({ path }) => path).sort()).toEqual(["/api/ps", "/api/show"]);
  });

  it("keeps the context it already runs with", async () => {
    const script = "reply times=any\n  text: ok";
    const first = await open(script);
    await ask(first, tokens(9000));
    const { wire } = { wire: await loadWire("ollama") };
    const endpoint = { provider: "ollama", family: "ollama", baseUrl: mock.url, local: true } as const;
    await ask(createLocalOllama({ endpoint, model: "mock-model", http, clock: systemClock, wire }), "Hi");
    expect(sizes()).toEqual([16_384, 16_384]);
  });

  it("stays within the memory, and takes a setting as it is", async () => {
    // The mock takes 128 KiB a token beside its 5 bytes.
    const script = "model mock-model size=5\nreply times=any\n  text: ok";
    const small = await open(script, { availableMemory: () => (9000 * 131_072) / 0.9 + 10 });
    await ask(small, tokens(8000));
    expect(sizes()).toEqual([9000]);
    await mock.close();
    const fixed = await open(script, { availableMemory: () => 1, numCtx: 12_345, keepAlive: "-1" });
    await ask(fixed, "Hi");
    expect(sizes()).toEqual([12_345]);
    expect(mock.requests[0]?.body).toMatchObject({ keep_alive: -1, truncate: false });
  });

  it("gets the request again with more context when the estimate was too small, and fails when there is no more", async () => {
    const model = await open("model mock-model context=8192\nreply times=any\n  text: ok");
    // Characters that take one byte here and more in the request.
    const events = await ask(model, "\u0001".repeat(3000));
    expect(sizes()).toEqual([4096, 8192]);
    expect(events.at(-1)).toEqual({ type: "stop", reason: "end" });
    expect(await ask(model, tokens(9000))).toMatchObject([{ type: "failure", failure: { reason: "ContextTooLong" } }]);
  });

  it("says once that a server has dropped a part of the conversation", async () => {
    const model = await open("model mock-model context=8192 cut=silent\nreply times=any\n  text: ok");
    expect(noticesOf(await ask(model, tokens(3000)))).toEqual([]);
    const [notice] = noticesOf(await ask(model, tokens(12_000)));
    expect(notice).toMatchObject({ level: "warning", message: expect.stringContaining("context of 8192 tokens") });
    expect(noticesOf(await ask(model, tokens(12_000)))).toEqual([]);
  });

  it("gets no request for abilities that the server denies, with one notice", async () => {
    const model = await open("model plain capabilities=completion\nreply times=2\n  text: ok\n", { model: "plain" });
    const notices = noticesOf(await ask(model, "hi", { tools: TOOLS, effort: "high" }));
    expect(notices).toMatchObject([{ level: "warning", message: expect.stringContaining("plain cannot call tools") }]);
    expect(noticesOf(await ask(model, "again", { tools: TOOLS }))).toEqual([]);
    expect(mock.failures).toEqual([]);
    expect(mock.requests[0]?.body).not.toHaveProperty("tools");
    expect(mock.requests[0]?.body).not.toHaveProperty("think");
  });

  it("says that it is being loaded while nothing comes", async () => {
    const clock = new ManualClock();
    const local = await open("model big:8b load=5s size=4100000000\nreply\n  text: ok", { clock, model: "big:8b" });
    const stream = local.stream(
      { model: "big:8b", system: "", messages: [said("Hi")], tools: [] },
      { model: local, signal: new AbortController().signal },
    );
    const iterator = stream[Symbol.asyncIterator]();
    const first = iterator.next();
    await mock.waitForRequest(1);
    clock.advance(800);
    expect((await first).value).toEqual([{ type: "notice", level: "progress", message: "loading big:8b (4.1 GB)" }]);
    const rest: ModelEvent[] = [];
    const end = (async () => {
      for (let item = await iterator.next(); item.done !== true; item = await iterator.next()) rest.push(...item.value);
    })();
    clock.advance(5000);
    await end;
    expect(rest).toContainEqual({ type: "text", text: "ok" });
  });
});

describe("[M20] a call with broken arguments", () => {
  const BROKEN = 'reply\n  text: Reading.\n  tool read raw: {"path":\n';

  it("is requested again with the tool's schema, and only the call is replaced", async () => {
    const model = await open(`${BROKEN}reply\n  text: {"path": "a.txt"}\n  usage input=5 output=5\n`, {
      wire: "openai-chat",
    });
    const events = await ask(model, "Read a.txt", { tools: TOOLS });
    expect(events).toContainEqual({
      type: "block",
      block: { type: "tool_call", tool: "read", args: { path: "a.txt" } },
    });
    expect(events.filter((event) => event.type === "text").map((event) => event.text)).toEqual(["Reading."]);
    expect(events.at(-1)).toEqual({ type: "stop", reason: "tool_calls" });
    expect(mock.requests[1]?.body).toMatchObject({
      response_format: { type: "json_schema", json_schema: { schema: TOOLS[0]?.inputSchema } },
    });
    expect(mock.requests[1]?.body).not.toHaveProperty("tools");
  });

  it("stays if that does not help, and after three times it is not requested again", async () => {
    const model = await open(`${BROKEN}reply\n  text: sorry\n`.repeat(3) + BROKEN, { wire: "openai-chat" });
    for (const requests of [2, 4, 6, 7]) {
      const events = await ask(model, "Read a.txt", { tools: TOOLS });
      expect(events).toContainEqual({
        type: "block",
        block: { type: "tool_call", tool: "read", args: {}, malformed: '{"path":' },
      });
      expect(mock.requests).toHaveLength(requests);
    }
  });
});

describe("[M20] a server of Chat Completions on this machine", () => {
  it("has the calls recovered that its model wrote as text", async () => {
    const call = '[TOOL_CALLS]read[ARGS]{"path": "a"}';
    const model = await open(`reply\n  text chunks=9: I look.${call}\nreply\n  text: I look [there].\n`, {
      wire: "openai-chat",
    });
    const events = await ask(model, "Read a", { tools: TOOLS });
    expect(events.filter((event) => event.type === "block").map((event) => event.block)).toEqual([
      { type: "text", text: "I look." },
      { type: "tool_call", tool: "read", args: { path: "a" } },
    ]);
    expect(events.at(-1)).toEqual({ type: "stop", reason: "tool_calls" });
    const prose = await ask(model, "Read a", { tools: TOOLS });
    expect(prose.filter((event) => event.type === "block")).toEqual([
      { type: "block", block: { type: "text", text: "I look [there]." } },
    ]);
    expect(prose.at(-1)).toEqual({ type: "stop", reason: "end" });
  });

  it("is reported when it counts far fewer tokens than there are", async () => {
    const model = await open("reply\n  text: ok\nreply times=any\n  text: ok\n  usage input=900", {
      wire: "openai-chat",
    });
    expect(noticesOf(await ask(model, tokens(5000)))).toEqual([]);
    expect(noticesOf(await ask(model, tokens(6000)))).toMatchObject([
      { level: "warning", message: expect.stringContaining("900 tokens for 24 KB") },
    ]);
    expect(noticesOf(await ask(model, tokens(6000)))).toEqual([]);
  });
});
