/**
 * External recordings (`wire/` of the suites beside the project): errors over HTTP, edges of the
 * protocols, and loops with tools. `npm run suites -- wire` runs the streams.
 */

import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { unless } from "../../../test/support/needs.js";
import type { ModelEvent } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { createHttpClient } from "../../system/http-client.js";
import { checkMessagesRequest } from "../../testkit/mock-model/wires/anthropic-check.js";
import { checkGenerateRequest } from "../../testkit/mock-model/wires/gemini-check.js";
import { checkChatRequest } from "../../testkit/mock-model/wires/openai-check.js";
import { checkResponsesRequest } from "../../testkit/mock-model/wires/responses-check.js";
import { createHttpModel } from "../http-model.js";
import { anthropic } from "./anthropic.js";
import { replay } from "./framing.js";
import { gemini } from "./gemini.js";
import { ollama } from "./ollama.js";
import { openaiChat } from "./openai-chat.js";
import { openaiResponses } from "./openai-responses.js";
import { converse } from "./test-support/converse.js";
import type { Wire } from "./wire.js";

const FOLDER = join(
  process.env.OXBOW_SUITES || fileURLToPath(new URL("../../../../shared/suites", import.meta.url)),
  "wire",
);
const noSuites = existsSync(join(FOLDER, "loops.json")) ? undefined : `needs the suites at ${FOLDER}: set OXBOW_SUITES`;

function load(file: string): readonly JsonObject[] {
  return noSuites === undefined ? JSON.parse(readFileSync(join(FOLDER, file), "utf8")).cases : [];
}

const WIRES: Readonly<Record<string, Wire<unknown>>> = {
  "anthropic-messages": anthropic as Wire<unknown>,
  "openai-chat": openaiChat as Wire<unknown>,
  "openai-responses": openaiResponses as Wire<unknown>,
  gemini: gemini as Wire<unknown>,
  "ollama-chat": ollama as Wire<unknown>,
};

/** A call of Gemini's, or a piece of one. */
interface GeminiPiece {
  readonly name?: string;
  readonly partialArgs?: readonly { jsonPath: string; stringValue?: string; numberValue?: number }[];
}

const http = createHttpClient();
const said = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });
const textOf = (value: JsonValue | undefined) => (typeof value === "string" ? value : JSON.stringify(value));

interface Reply {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** The connection stays open after it. */
  readonly open?: true;
}

let server: Server | undefined;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

/** Answers one request after the other, and keeps their bodies. */
async function serve(replies: readonly Reply[]): Promise<{ readonly url: string; readonly requests: JsonObject[] }> {
  const requests: JsonObject[] = [];
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => {
      text += piece;
    });
    request.on("end", () => {
      const { status = 200, type = "text/event-stream", headers = {}, body, open } = replies[requests.length] as Reply;
      requests.push(JSON.parse(text));
      response.writeHead(status, { "content-type": type, ...headers });
      response.write(body);
      if (open === undefined) response.end();
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function modelOf(wire: Wire<unknown>, url: string) {
  const endpoint = { provider: "acme", family: wire.name, baseUrl: url, key: "any", local: true };
  return createHttpModel({ wire, endpoint, model: "m", http });
}

const known = (row: { readonly protocol: string }) => WIRES[row.protocol] !== undefined;

unless(noSuites).describe("[M2] errors over HTTP", () => {
  const cases = load("http-errors.json").map((item, index) => ({
    index,
    protocol: String(item.protocol),
    status: Number(item.status),
    item,
  }));

  it.each(cases.filter(known))("$index: $protocol $status", async ({ protocol, status, item }) => {
    const body = textOf(item.body) ?? "";
    const headers: Record<string, string> = item.retry_after ? { "retry-after": String(item.retry_after) } : {};
    const { url } = await serve([{ status, type: "application/json", headers, body }]);
    const wire = WIRES[protocol] as Wire<unknown>;
    const { failure } = await converse(modelOf(wire, url), { messages: [said("Hi")], run: () => [] });
    const missing = status === 404 || body.includes("model_not_found");
    const reason = missing ? "ModelNotFound" : status === 429 ? "RateLimited" : "BadRequest";
    expect(failure).toMatchObject({ reason, status });
    expect(failure?.retryable).toBe(status === 429 ? true : undefined);
    const { error } = JSON.parse(body) as { error: { message: string } };
    if (reason === "BadRequest") expect(failure?.message).toContain(error.message.slice(0, 200));
  });
});

unless(noSuites).describe("[M2] edges", () => {
  const cases = load("edge.json").map((item) => ({ id: String(item.id), protocol: String(item.protocol), item }));

  const isPlain = ({ item }: { item: JsonObject }) =>
    item.body !== undefined && !("tool_calls" in (item.expect as JsonObject));

  it.each(cases.filter(known).filter(isPlain))("$id", async ({ protocol, item }) => {
    const expected = item.expect as JsonObject;
    const wire = WIRES[protocol] as Wire<unknown>;
    const isOpen = String(expected.note).includes("without waiting");
    const type = typeof item.content_type === "string" ? { type: item.content_type } : {};
    const { url } = await serve([{ body: String(item.body), ...type, ...(isOpen && { open: true as const }) }]);
    const tools = [{ name: "get_weather", description: "", inputSchema: { type: "object" } }];
    const seen = await converse(modelOf(wire, url), { messages: [said("Hi")], tools, run: () => [] });
    if (expected.error !== undefined) {
      expect(seen.failure).toBeDefined();
      const { message, retryable } = isJsonObject(expected.error) ? expected.error : {};
      if (message !== undefined) expect(seen.failure?.message).toContain(message);
      if (retryable !== undefined) expect(seen.failure?.retryable).toBe(retryable);
      if (expected.text_before_error !== undefined) expect(seen.text).toBe(expected.text_before_error);
      expect(JSON.stringify(seen.failure)).not.toContain("bad-json");
      return;
    }
    expect(seen.failure).toBeUndefined();
    expect(seen.text).toBe(expected.text ?? "");
    if (isJsonObject(expected.usage)) {
      expect(seen.calls[0]?.find((event) => event.type === "usage")).toMatchObject({ usage: expected.usage });
    }
  });

  it("a call of Ollama's without an id", async () => {
    const item = cases.find(({ id }) => id === "ollama/chat_tool_call")?.item as JsonObject;
    const { tool_calls: calls, usage } = item.expect as {
      tool_calls: { name: string; arguments: JsonObject }[];
      usage: JsonObject;
    };
    const end = '{"message":{"role":"assistant","content":"ok"},"done":true}\n';
    const { url } = await serve([{ body: String(item.body) }, { body: end }]);
    const seen = await converse(modelOf(ollama as Wire<unknown>, url), { messages: [said("Hi")], run: () => [] });
    expect(seen.messages[1]?.content).toMatchObject(calls.map(({ name, arguments: args }) => ({ tool: name, args })));
    expect(seen.calls[0]?.slice(-2)).toMatchObject([{ usage }, { reason: "tool_calls" }]);
  });

  it("what Ollama wants of a request", () => {
    const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
    const messages: readonly Message[] = [
      { role: "user", content: [image] },
      { role: "assistant", content: [{ type: "tool_use", call: "call_1", tool: "read", args: {} }] },
      { role: "user", content: [{ type: "tool_result", call: "call_1", tool: "read", content: [], is_error: false }] },
    ];
    const request = { model: "m", system: "", messages, tools: [] };
    const { body } = ollama.encode(request, { baseUrl: "http://host", family: "ollama" });
    expect(body).not.toHaveProperty("think");
    expect(body.messages).toMatchObject([{ content: "" }, { content: "" }, { content: "", tool_name: "read" }]);
  });
});

/* ---- loops ---- */

interface LoopStep {
  readonly request: JsonValue;
  readonly file: string;
  readonly status: number;
}

/** Tells what a request is made of: roles, and the kinds of what is in them. */
function shapeOf(protocol: string, body: JsonObject): readonly string[] {
  const list = (value: JsonValue | undefined) => (Array.isArray(value) ? value.filter(isJsonObject) : []);
  if (protocol === "openai-responses") {
    return list(body.input).flatMap(({ type, role }) => (role === "system" ? [] : [String(role ?? type)]));
  }
  const isAnthropic = protocol === "anthropic-messages";
  return list(body.messages).flatMap(({ role, content, tool_calls: calls }) => {
    if (role === "system") return [];
    const kinds = isAnthropic ? list(content).map(({ type }) => type) : list(calls).map(() => "call");
    return [[role, ...kinds].join(" ")];
  });
}

/** As the real service would see it, by the mock model's own rules. */
function complaintAbout(protocol: string, body: JsonObject): unknown {
  switch (protocol) {
    case "anthropic-messages":
      return checkMessagesRequest(body);
    case "openai-chat":
      return checkChatRequest(body);
    case "openai-responses":
      return checkResponsesRequest(body);
    default:
      return checkGenerateRequest(body, "m");
  }
}

unless(noSuites).describe("[M2] loops", () => {
  const streams = new Map(load("index.json").map((item) => [item.file, item]));
  const cases = load("loops.json").map((item) => {
    const steps = item.steps as unknown as readonly LoopStep[];
    return { name: String(item.name), protocol: steps[0]?.file.split("/")[0] ?? "", steps };
  });

  it.each(cases.filter(known))("$name", async ({ protocol, steps }) => {
    const { url, requests } = await serve(steps.map(({ file }) => ({ body: readFileSync(join(FOLDER, file)) })));
    const model = modelOf(WIRES[protocol] as Wire<unknown>, url);
    const result = '{"temperature":22,"condition":"sunny"}';
    const options = {
      system: "Use the tool.",
      tools: [
        {
          name: "get_weather",
          description: "Weather.",
          inputSchema: { type: "object", properties: { city: { type: "string" } } },
        },
      ],
      run: () => [{ type: "text" as const, text: result }],
    };
    let talk = await converse(model, { ...options, messages: [said("What is the weather in Paris?")] });
    const first = talk;
    if (requests.length < steps.length)
      talk = await converse(model, { ...options, messages: [...talk.messages, said("Go on.")] });
    expect(requests).toHaveLength(steps.length);
    expect(talk.failure).toBeUndefined();
    const expected = steps.map(({ file }) => streams.get(file)?.expected as JsonObject);
    expect(talk.text).toBe(expected.at(-1)?.text);
    for (const [index, body] of requests.entries()) {
      expect(complaintAbout(protocol, body)).toBeUndefined();
      const { request } = steps[index] as LoopStep;
      if (isJsonObject(request)) expect(shapeOf(protocol, body)).toEqual(shapeOf(protocol, request));
    }
    const used = first.messages[1]?.content.filter(({ type }) => type === "tool_use") ?? [];
    expect(used).toHaveLength((expected[0]?.tool_calls as JsonValue[] | undefined)?.length ?? -1);
    if (used.length > 0) expect(JSON.stringify(requests[1])).toContain(JSON.stringify(result).slice(1, -1));
  });
});

/* ---- streams ---- */

/** Pieces of 1 to 64 bytes, the same for the same stream. */
function* cut(bytes: Buffer, seed: number): Generator<Buffer> {
  let state = seed;
  for (let at = 0; at < bytes.length; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    const size = 1 + (state % 64);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Bodies that hold several answers, one after the other: the first ends the stream. */
const GLUED = /openai-(reasoning-encrypted-content|shell-tool)\.1$/;

unless(noSuites).describe("[M2] streams", () => {
  const cases = load("index.json")
    .filter((item) => item.expected !== undefined)
    .map((item) => ({ id: String(item.id), protocol: String(item.protocol), item }))
    .filter(known);
  const replayed = ({ protocol, item }: (typeof cases)[number], pieces?: (bytes: Buffer) => Iterable<Buffer>) => {
    const bytes = readFileSync(join(FOLDER, String(item.file)));
    const context = { provider: "acme", family: "acme", model: "m", url: "http://host/", tools: [] };
    return replay(WIRES[protocol] as Wire<unknown>, context, pieces?.(bytes) ?? [bytes]);
  };

  it("are the same events however their bytes are cut", () => {
    expect(cases.length).toBeGreaterThan(400);
    for (const [index, each] of cases.entries()) {
      const whole = replayed(each);
      const inPieces = replayed(each, (bytes) => cut(bytes, index + 1));
      expect({ id: each.id, events: inPieces }).toEqual({ id: each.id, events: whole });
    }
  });

  const answered = cases.filter(({ item, id }) => {
    const { error } = item.expected as JsonObject;
    return error === undefined && item.vendor_sdk_rejects === undefined && !GLUED.test(id);
  });

  it("of Responses keep the reasoning, the counts and the reason to stop", () => {
    for (const each of answered.filter(({ protocol }) => protocol === "openai-responses")) {
      const expected = each.item.expected as {
        encrypted_reasoning: boolean[];
        usage: JsonObject | null;
        incomplete: string | null;
        terminal: string | null;
      };
      const events = replayed(each);
      const thoughts = events.flatMap((event) =>
        event.type === "block" && event.block.type === "thinking" ? [event.block] : [],
      );
      const sealed = thoughts.filter(({ opaque }) => isJsonObject(opaque) && "encrypted_content" in opaque);
      expect([each.id, sealed.length]).toEqual([each.id, expected.encrypted_reasoning.filter(Boolean).length]);
      if (expected.usage !== null) {
        const last = events.findLast((event) => event.type === "usage");
        const { input = 0, cache_read = 0, cache_write = 0, output, reasoning } = last?.usage ?? {};
        const counts = { input: input + cache_read + cache_write, output, cached: cache_read, reasoning };
        const wanted = Object.fromEntries(Object.entries(expected.usage).map(([name, count]) => [name, count ?? 0]));
        expect([each.id, counts]).toEqual([each.id, wanted]);
      }
      if (expected.terminal === "response.incomplete")
        expect(events.at(-1)).toEqual({ type: "stop", reason: "length" });
      if (expected.terminal === "response.completed") expect(events.at(-1)?.type).toBe("stop");
    }
  });

  it("of Gemini keep the thoughts, their signatures, the counts and the reason to stop", () => {
    for (const each of answered.filter(({ protocol }) => protocol === "gemini")) {
      const expected = each.item.expected as {
        thinking: string;
        thought_signatures: number;
        usage: JsonObject | null;
        finish_reason: string;
      };
      const events = replayed(each);
      const thinking = events.map((event) => (event.type === "thinking" ? event.text : "")).join("");
      expect([each.id, thinking]).toEqual([each.id, expected.thinking]);
      const kept = JSON.stringify(events).match(/"(signature|thoughtSignature)":"[^"]/g) ?? [];
      expect([each.id, kept.length]).toEqual([each.id, expected.thought_signatures]);
      const last = events.findLast((event) => event.type === "usage");
      const { output, thoughts, cached } = expected.usage ?? {};
      if (typeof output === "number") {
        const counts = { output: output + Number(thoughts ?? 0), reasoning: thoughts ?? 0, cache_read: cached ?? 0 };
        expect([each.id, last]).toMatchObject([each.id, { usage: counts }]);
      }
      if (expected.finish_reason === "MAX_TOKENS") expect(events.at(-1)).toEqual({ type: "stop", reason: "length" });
    }
  });

  const named = (pattern: RegExp) => cases.filter(({ id }) => pattern.test(id));
  const textIn = (events: readonly ModelEvent[]) =>
    events.map((event) => (event.type === "text" ? event.text : "")).join("");
  const callsIn = (events: readonly ModelEvent[]) =>
    events.flatMap((event) => (event.type === "block" && event.block.type === "tool_call" ? [event.block] : []));

  /* What tools/suites/accepted.mjs leaves out is checked here: that what Oxbow reads instead is what the stream says. */

  it("with several answers in one body hold what is expected, each answer by itself", () => {
    for (const each of named(GLUED)) {
      const bytes = readFileSync(join(FOLDER, String(each.item.file)), "utf8");
      const answers = bytes.split(/(?=^event: response\.created$)/m);
      expect(answers.length).toBeGreaterThan(1);
      const read = answers.map((answer) => replayed(each, () => [Buffer.from(answer)]));
      const expected = each.item.expected as { text: string; tool_calls: JsonObject[]; usage: { output: number } };
      expect(read.map(textIn).join("")).toBe(expected.text);
      const calls = read.flatMap(callsIn).map(({ tool, args }) => ({ tool, args }));
      const wanted = expected.tool_calls.map((call) => ({
        tool: call.name,
        args: JSON.parse(String(call.arguments)) as JsonObject,
      }));
      expect(calls).toEqual(wanted);
      const outputs = read.map((events) => events.findLast((event) => event.type === "usage")?.usage.output ?? 0);
      // What is expected of the whole body counts the last answer alone: the others would never be paid for.
      expect(outputs.at(-1)).toBe(expected.usage.output);
      expect(outputs.every((output) => output > 0)).toBe(true);
    }
  });

  it("with calls whose arguments come in pieces give every named call once, with all its pieces", () => {
    const inPieces = cases.filter(
      ({ item, protocol }) => protocol === "gemini" && JSON.stringify(item.expected).includes('"partialArgs":true'),
    );
    expect(inPieces).toHaveLength(7);
    for (const each of inPieces) {
      const parts = readFileSync(join(FOLDER, String(each.item.file)), "utf8")
        .split(/\r?\n/)
        .filter((line) => line.startsWith("data: {"))
        .flatMap((line) => JSON.parse(line.slice(6)).candidates?.[0]?.content?.parts ?? [])
        .flatMap((part: { functionCall?: GeminiPiece }) => part.functionCall ?? []);
      const calls = callsIn(replayed(each));
      expect(calls.map(({ tool }) => tool)).toEqual(parts.flatMap(({ name }) => name ?? []));
      let call = -1;
      const texts = new Map<string, string>();
      for (const { name, partialArgs = [] } of parts) {
        if (name !== undefined) call++;
        for (const { jsonPath, stringValue, numberValue } of partialArgs) {
          const at = `${call} ${jsonPath}`;
          texts.set(at, (texts.get(at) ?? "") + (stringValue ?? numberValue ?? ""));
        }
      }
      for (const [at, value] of texts) {
        const [, index, path = ""] = /^(\d+) (.*)$/.exec(at) ?? [];
        const found = path
          .split(/[.[\]]+/)
          .slice(1)
          .filter((name) => name !== "")
          .reduce<unknown>((inside, name) => (inside as Record<string, unknown>)?.[name], calls[Number(index)]?.args);
        if (value !== "") expect([each.id, at, String(found)]).toEqual([each.id, at, value]);
      }
    }
  });

  it("in which a server repeats the name of a tool name the tool that was offered", () => {
    const found = named(/test_tools_streaming_variant_a--0$/);
    expect(found).toHaveLength(1);
    for (const each of found) {
      const { tools } = each.item.request as unknown as { tools: { function: { name: string } }[] };
      expect(callsIn(replayed(each)).map(({ tool }) => tool)).toEqual([tools[0]?.function.name]);
    }
  });
});
