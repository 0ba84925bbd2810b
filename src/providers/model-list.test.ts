import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { ManualClock } from "../base/clock.js";
import { createHttpClient } from "../system/http-client.js";
import { keptLists, keptOrListed } from "./kept-list.js";
import { listModels } from "./model-list.js";
import { listOllamaModels, showOllamaModel } from "./ollama/api.js";

const http = createHttpClient();
const cleanUps: (() => void)[] = [];
afterEach(() => {
  http.close();
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A server that answers everything the same and remembers what it was asked. */
async function serve(status: number, answer: unknown): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUps.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const endpoint = (baseUrl: string) => ({ provider: "acme", family: "acme", baseUrl, key: "k", local: true });

describe("listModels", () => {
  it("asks Anthropic", async () => {
    const data = [{ id: "claude-x", display_name: "Claude X", max_input_tokens: 200_000 }, { id: "claude-y" }];
    const { url, seen } = await serve(200, { data, has_more: false });
    expect(await listModels("anthropic", endpoint(url), { http })).toEqual({
      ok: true,
      models: [{ id: "claude-x", label: "Claude X", maxContextTokens: 200_000 }, { id: "claude-y" }],
    });
    expect(seen[0]).toMatchObject({ method: "GET", url: "/v1/models?limit=1000" });
    expect(seen[0]?.headers).toMatchObject({ "x-api-key": "k", "anthropic-version": "2023-06-01" });
  });

  it("asks OpenAI and its relatives", async () => {
    const { url, seen } = await serve(200, { data: [{ id: "gpt-x", context_window: 8192 }, { object: "nameless" }] });
    const models = [{ id: "gpt-x", maxContextTokens: 8192 }];
    expect(await listModels("openai-chat", endpoint(`${url}/v1`), { http })).toEqual({ ok: true, models });
    expect(seen[0]).toMatchObject({ url: "/v1/models", headers: { authorization: "Bearer k" } });
  });

  it("reads what each service says of context and tools, in its own words", async () => {
    const data = [
      { id: "mistral", max_context_length: 1, capabilities: { function_calling: true } },
      { id: "openrouter", name: "Open", context_length: 2, supported_parameters: ["temperature"] },
      { id: "fireworks", context_length: 3, supports_tools: false },
      { id: "vllm", max_model_len: 5, owned_by: "vllm" },
      {
        id: "copilot",
        capabilities: { limits: { max_context_window_tokens: 4 }, supports: { tool_calls: true } },
      },
    ];
    const { url, seen } = await serve(200, { data });
    const where = { ...endpoint(url), dialect: { unversioned: true }, headers: { "x-team": "blue" } } as const;
    expect(await listModels("openai-chat", where, { http })).toEqual({
      ok: true,
      models: [
        { id: "mistral", maxContextTokens: 1, tools: true },
        { id: "openrouter", label: "Open", maxContextTokens: 2, tools: false },
        { id: "fireworks", maxContextTokens: 3, tools: false },
        { id: "vllm", maxContextTokens: 5, owner: "vllm" },
        { id: "copilot", maxContextTokens: 4, tools: true },
      ],
    });
    expect(seen[0]).toMatchObject({ url: "/models", headers: { "x-team": "blue" } });
  });

  it("asks the service behind a ChatGPT plan", async () => {
    const { url, seen } = await serve(200, { models: [{ slug: "gpt-x", context_window: 8192 }] });
    const where = { ...endpoint(`${url}/codex`), dialect: { listQuery: ["client_version", "1.0.0"] as const } };
    const models = [{ id: "gpt-x", maxContextTokens: 8192 }];
    expect(await listModels("openai-responses", where, { http })).toEqual({ ok: true, models });
    expect(seen[0]).toMatchObject({ url: "/codex/models?client_version=1.0.0" });
  });

  it("tells what went wrong", async () => {
    const refused = await serve(401, { error: { message: "no" } });
    expect(await listModels("openai-chat", endpoint(refused.url), { http })).toMatchObject({
      ok: false,
      failure: { reason: "AuthFailed" },
    });
    const page = await serve(200, "<html></html>");
    expect(await listModels("openai-chat", endpoint(page.url), { http })).toMatchObject({
      ok: false,
      failure: { reason: "MalformedResponse" },
    });
    expect(await listModels("anthropic", endpoint("nowhere"), { http })).toMatchObject({
      ok: false,
      failure: { reason: "NetworkFailed" },
    });
  });
});

describe("Ollama's own questions", () => {
  it("lists what is installed", async () => {
    const { url, seen } = await serve(200, { models: [{ name: "qwen3:8b", model: "qwen3:8b", size: 5_200_000_000 }] });
    expect(await listOllamaModels(`${url}/`, { http })).toEqual({
      ok: true,
      models: [{ id: "qwen3:8b", bytes: 5_200_000_000 }],
    });
    expect(seen[0]?.url).toBe("/api/tags");
  });

  it("finds how much a model can read and what it can do", async () => {
    const info = { "general.architecture": "qwen3", "qwen3.context_length": 40_960 };
    const { url, seen } = await serve(200, { model_info: info, capabilities: ["completion", "tools"] });
    expect(await showOllamaModel(url, "qwen3:8b", { http })).toEqual({
      ok: true,
      details: { maxContextTokens: 40_960, capabilities: ["completion", "tools"] },
    });
    expect(seen[0]).toMatchObject({ method: "POST", url: "/api/show", body: '{"model":"qwen3:8b"}' });
    const missing = await serve(404, { error: "model 'x' not found" });
    expect(await showOllamaModel(missing.url, "x", { http })).toMatchObject({
      ok: false,
      failure: {
        reason: "ModelNotFound",
        message: "ollama has no model 'x'. 'oxbow models ollama' lists its models, 'oxbow ollama pull x' gets it.",
      },
    });
  });

  it("stops when it is cancelled", async () => {
    const { url } = await serve(200, {});
    const signal = AbortSignal.abort();
    expect(await listOllamaModels(url, { http, signal })).toMatchObject({
      ok: false,
      failure: { reason: "NetworkFailed" },
    });
  });
});

describe("a list with prices", () => {
  it("is fetched once in six hours, stays in use while the provider is away, and only if it has prices", async () => {
    const state = mkdtempSync(join(tmpdir(), "kept-list-"));
    cleanUps.push(() => rmSync(state, { recursive: true }));
    const models = { data: [{ id: "a", pricing: { prompt: "0.000001", completion: "0.000002" } }] };
    const { url, seen } = await serve(200, models);
    const where = { ...endpoint(`${url}/v1`), family: "openrouter" };
    const clock = new ManualClock();
    const list = (at = where) => keptOrListed("openai-chat", at, { http, state, clock });
    const listed = { ok: true, models: [{ id: "a", price: { input: 1, output: 2 } }] };
    for (let time = 0; time < 2; time++) expect(await list()).toEqual(listed);
    expect(seen).toHaveLength(1);
    clock.advance(6 * 60 * 60 * 1000);
    await list();
    expect(seen).toHaveLength(2);
    const other = { ...where, family: "acme" };
    for (let time = 0; time < 2; time++) await list(other);
    expect(seen, "a provider without prices of its own").toHaveLength(4);
    const gone = await serve(500, "away");
    const away = { ...where, baseUrl: `${gone.url}/v1` };
    expect(await list(away)).toMatchObject({ ok: false });
    const file = join(keptLists(state), readdirSync(keptLists(state))[0] ?? "");
    for (const text of ["{", "null", '{"at":"x"}']) {
      writeFileSync(file, text);
      expect(await list()).toEqual(listed);
    }
    expect(seen, "a broken file counts as none").toHaveLength(7);
    clock.advance(24 * 60 * 60 * 1000);
    for (const cleanUp of cleanUps.splice(1)) cleanUp();
    http.close();
    expect(await list(), "the provider is away").toEqual(listed);
  });
});
