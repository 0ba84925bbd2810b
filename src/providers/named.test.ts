import { describe, expect, it } from "vitest";
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
