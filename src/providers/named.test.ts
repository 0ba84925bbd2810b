import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../engine/ports.js";
import { type Message, text } from "../protocol/content.js";
import {
  endpointOf,
  findProvider,
  isReady,
  loadWire,
  NAMED_PROVIDERS,
  type NamedProvider,
  ollamaUrl,
} from "./named.js";

function provider(name: string): NamedProvider {
  const found = findProvider(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

const CALL = "call_01ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456";

/** A conversation in the middle of a tool call, with thinking of the model that is asked. */
function request(): ModelRequest {
  const thoughts = ["deepseek", "groq"].map((name) => ({
    type: "thinking" as const,
    text: "a thought",
    provider: name,
    opaque: { field: "reasoning_content" },
  }));
  return {
    model: "m",
    system: "",
    tools: [],
    maxOutputTokens: 99,
    messages: [
      { role: "user", content: [text("go")] },
      { role: "assistant", content: [...thoughts, { type: "tool_use", call: CALL, tool: "read", args: {} }] },
      { role: "user", content: [{ type: "tool_result", call: CALL, tool: "read", content: [], is_error: false }] },
    ],
  };
}

describe("[M3] named providers", () => {
  it("have different names, valid addresses and a wire that can be loaded", async () => {
    expect(new Set(NAMED_PROVIDERS.map(({ name }) => name)).size).toBe(NAMED_PROVIDERS.length);
    for (const { baseUrl, wire } of NAMED_PROVIDERS) {
      expect(URL.canParse(baseUrl)).toBe(true);
      expect((await loadWire(wire)).name).toBe(wire);
    }
    expect(findProvider("nobody")).toBeUndefined();
  });

  it("take key and address from the variables they name", () => {
    const anthropic = provider("anthropic");
    const plain = endpointOf(anthropic, { ANTHROPIC_API_KEY: " k \n" });
    expect(plain).toEqual({
      provider: "anthropic",
      family: "anthropic",
      baseUrl: "https://api.anthropic.com",
      key: "k",
      keyName: "ANTHROPIC_API_KEY",
      local: false,
    });
    const moved = endpointOf(anthropic, { ANTHROPIC_BASE_URL: "https://proxy.example/anthropic" });
    expect(moved).toMatchObject({ baseUrl: "https://proxy.example/anthropic", family: "anthropic" });
    expect(endpointOf(anthropic, { ANTHROPIC_BASE_URL: "" }).baseUrl).toBe("https://api.anthropic.com");
  });

  const KNOWN = [
    ["anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1/messages"],
    ["openai", "OPENAI_API_KEY", "https://api.openai.com/v1/chat/completions"],
    ["openai-responses", "OPENAI_API_KEY", "https://api.openai.com/v1/responses"],
    ["mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1/chat/completions"],
    ["deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1/chat/completions"],
    ["openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1/chat/completions"],
    ["zai", "ZAI_API_KEY", "https://api.z.ai/api/paas/v4/chat/completions"],
    ["groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1/chat/completions"],
    ["fireworks", "FIREWORKS_API_KEY", "https://api.fireworks.ai/inference/v1/chat/completions"],
    ["copilot", "COPILOT_GITHUB_TOKEN", "https://api.githubcopilot.com/chat/completions"],
    ["ollama", undefined, "http://127.0.0.1:11434/api/chat"],
    ["llamacpp", "LLAMA_API_KEY", "http://127.0.0.1:8080/v1/chat/completions"],
    ["llamafile", "LLAMAFILE_API_KEY", "http://127.0.0.1:8080/v1/chat/completions"],
    ["lmstudio", "LMSTUDIO_API_KEY", "http://127.0.0.1:1234/v1/chat/completions"],
    ["vllm", "VLLM_API_KEY", "http://127.0.0.1:8000/v1/chat/completions"],
  ] as const;

  it.each(KNOWN)("know %s: key in %s, calls to %s", async (name, keyName, url) => {
    const row = provider(name);
    expect(row.keyName).toBe(keyName);
    const endpoint = endpointOf(row, {});
    const wire = await loadWire(row.wire);
    expect(wire.encode(request(), endpoint).url).toBe(url);
    expect(isReady(row, endpoint)).toBe(row.local === true);
    expect(row.local === true || row.defaultModel !== undefined).toBe(true);
  });

  it("differ where their services do", async () => {
    const wire = await loadWire("openai-chat");
    const body = (name: string) => wire.encode(request(), endpointOf(provider(name), {})).body;
    expect(body("openai")).toMatchObject({ max_completion_tokens: 99 });
    expect(body("groq")).toMatchObject({ max_completion_tokens: 99 });
    expect(body("deepseek")).toMatchObject({ max_tokens: 99 });
    const ids = (name: string) => JSON.stringify(body(name)).match(/(?<="(id|tool_call_id)":")[^"]+/g);
    expect(ids("mistral")).toEqual(["YZ0123456", "YZ0123456"]);
    expect(ids("vllm")).toEqual([CALL, CALL]);
    const thought = (name: string) => JSON.stringify(body(name)).includes("a thought");
    expect([thought("deepseek"), thought("groq")]).toEqual([true, false]);
    expect(provider("openrouter").headers).toMatchObject({ "x-title": "Oxbow" });
  });

  it("tell Copilot who began a request and whether it holds an image", () => {
    const { headers, headersOf } = endpointOf(provider("copilot"), {});
    expect(headers).toMatchObject({
      "copilot-integration-id": expect.any(String),
      "editor-version": expect.any(String),
    });
    const [first, ...rest] = request().messages;
    const image: Message = { role: "user", content: [{ type: "image", media_type: "image/png", data: "" }] };
    expect(headersOf?.({ ...request(), messages: first ? [first] : [] })).toEqual({ "x-initiator": "user" });
    expect(headersOf?.({ ...request(), messages: rest })).toEqual({ "x-initiator": "agent" });
    expect(headersOf?.({ ...request(), messages: [image] })).toEqual({
      "x-initiator": "user",
      "copilot-vision-request": "true",
    });
  });

  it("follow OPENAI_BASE_URL together, so that a key for one address is not sent to another", () => {
    const responses = provider("openai-responses");
    expect(endpointOf(responses, { OPENAI_BASE_URL: "http://box/v1" }).baseUrl).toBe("http://box/v1");
    const both = { OPENAI_BASE_URL: "http://box/v1", OPENAI_RESPONSES_URL: "http://other/v1" };
    expect(endpointOf(responses, both).baseUrl).toBe("http://other/v1");
  });

  it("treat another server behind OpenAI's name as one that is only compatible", () => {
    const openai = provider("openai");
    expect(endpointOf(openai, { OPENAI_BASE_URL: "https://api.openai.com" }).family).toBe("openai");
    const own = endpointOf(openai, { OPENAI_BASE_URL: "http://localhost:8080/v1" });
    expect(own).toMatchObject({ family: "openai-compatible", local: true });
    expect(isReady(openai, own)).toBe(true);
    expect(isReady(openai, endpointOf(openai, {}))).toBe(false);
    expect(isReady(openai, endpointOf(openai, { OPENAI_API_KEY: "k" }))).toBe(true);
    expect(isReady(provider("ollama"), endpointOf(provider("ollama"), {}))).toBe(true);
  });

  it("are ready after a sign-in, if they need one", () => {
    const claude = provider("claude");
    const endpoint = endpointOf(claude, {});
    expect(isReady(claude, endpoint)).toBe(false);
    expect(isReady(claude, { ...endpoint, authorise: async () => ({}) })).toBe(true);
    expect(endpointOf(claude, { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" }).baseUrl).toBe(claude.baseUrl);
  });

  it.each([
    ["127.0.0.1", "http://127.0.0.1:11434"],
    ["127.0.0.1:9000", "http://127.0.0.1:9000"],
    [":9000", "http://127.0.0.1:9000"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:9000", "http://127.0.0.1:9000"],
    ["[::]:9000", "http://127.0.0.1:9000"],
    ["[::1]", "http://[::1]:11434"],
    ["box.lan", "http://box.lan:11434"],
    ["http://box.lan", "http://box.lan"],
    ["http://box.lan:80", "http://box.lan"],
    ["https://box.example/ollama/", "https://box.example/ollama"],
    ["http://localhost:11434/", "http://localhost:11434"],
  ])("read OLLAMA_HOST=%s", (host, url) => {
    expect(ollamaUrl(host)).toBe(url);
    expect(endpointOf(provider("ollama"), { OLLAMA_HOST: host })).toMatchObject({ baseUrl: url, local: true });
  });
});
