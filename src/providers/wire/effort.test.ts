/** Shows what a wish for more or less thinking becomes on each wire, by model; and what leads a provider to its cache. */
import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { Effort, ModelRequest } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";
import { anthropic } from "./anthropic.js";
import { gemini } from "./gemini.js";
import { ollama } from "./ollama.js";
import { openaiChat } from "./openai-chat.js";
import { openaiResponses } from "./openai-responses.js";
import type { Wire } from "./wire.js";

const WIRES = { anthropic, openaiChat, openaiResponses, gemini, ollama } as unknown as Record<string, Wire<unknown>>;

interface Asked {
  readonly effort?: Effort;
  readonly family?: string;
  readonly extra?: JsonObject;
  readonly fields?: Partial<ModelRequest>;
}

function encode(wire: string, model: string, { effort, family = "openai", extra = {}, fields }: Asked = {}) {
  const messages = [{ role: "user", content: [{ type: "text", text: "Hi" }] }] as const;
  const tools = [{ name: "read", description: "", inputSchema: { type: "object" } }];
  const request: ModelRequest = { model, system: "", messages, tools, ...(effort && { effort }), ...fields };
  const target = { baseUrl: "https://api.anthropic.com", family, extra };
  return (WIRES[wire] as Wire<unknown>).encode(request, target);
}

const ADAPTIVE = { thinking: { type: "adaptive", display: "summarized" } };

describe("an effort", () => {
  verifies(["M1"], "is what the model's generation understands", () => {
    const rows: readonly (readonly [string, string, Effort, JsonObject])[] = [
      ["anthropic", "claude-opus-5-5", "low", { ...ADAPTIVE, output_config: { effort: "low" }, max_tokens: 32_000 }],
      ["anthropic", "claude-sonnet-4-6", "high", { ...ADAPTIVE, output_config: { effort: "high" } }],
      ["anthropic", "claude-fable-5-2", "medium", { ...ADAPTIVE, output_config: { effort: "medium" } }],
      ["anthropic", "claude-sonnet-4-20250514", "low", { thinking: { type: "enabled", budget_tokens: 2048 } }],
      [
        "anthropic",
        "claude-haiku-4-5",
        "high",
        { thinking: { type: "enabled", budget_tokens: 16_384 }, max_tokens: 48_384 },
      ],
      ["anthropic", "claude-opus-4-5", "low", { thinking: { type: "enabled" }, output_config: { effort: "low" } }],
      ["openaiChat", "gpt-5.6", "low", { reasoning_effort: "low" }],
      ["openaiResponses", "gpt-5.6", "high", { reasoning: { effort: "high" } }],
      ["gemini", "gemini-3.5-flash", "medium", { generationConfig: { thinkingConfig: { thinkingLevel: "MEDIUM" } } }],
      ["gemini", "gemini-3-pro-preview", "medium", { generationConfig: { thinkingConfig: { thinkingLevel: "HIGH" } } }],
      ["gemini", "gemini-2.5-flash", "low", { generationConfig: { thinkingConfig: { thinkingBudget: 1024 } } }],
      ["ollama", "gpt-oss:20b", "medium", { think: "medium" }],
      ["ollama", "qwen3:8b", "low", { think: true }],
    ];
    for (const [wire, model, effort, expected] of rows) {
      expect([model, encode(wire, model, { effort }).body]).toMatchObject([model, expected]);
    }
  });

  it.each([
    ["anthropic", "claude-3-5-sonnet-20241022", "thinking"],
    ["openaiChat", "gpt-4.1", "reasoning_effort"],
    ["openaiResponses", "gpt-4o", "reasoning"],
    ["gemini", "gemini-2.0-flash", "generationConfig"],
  ])("is not asked of a model that cannot think: %s %s", (wire, model, field) => {
    expect(encode(wire, model, { effort: "high" }).body).not.toHaveProperty(field);
  });

  it.each(["claude-opus-5", "claude-haiku-4-5"])("leaves %s as it is when there is none", (model) => {
    const { body } = encode("anthropic", model);
    expect(body).not.toHaveProperty("thinking");
    expect(body).not.toHaveProperty("output_config");
  });

  it("has room for the answer beside the budget, and gives way to the provider's own fields", () => {
    const fields = { maxOutputTokens: 100 };
    expect(encode("anthropic", "claude-haiku-4-5", { effort: "low", fields }).body.max_tokens).toBe(2148);
    const extra = { thinking: { type: "disabled" } };
    expect(encode("anthropic", "claude-haiku-4-5", { effort: "low", extra }).body).toMatchObject(extra);
  });

  it("lets capable models think between calls", () => {
    const beta = "interleaved-thinking-2025-05-14";
    expect(encode("anthropic", "claude-haiku-4-5", { effort: "low" }).headers["anthropic-beta"]).toBe(beta);
    expect(encode("anthropic", "claude-opus-5", { effort: "low" }).headers).not.toHaveProperty("anthropic-beta");
  });
});

describe("the way to the cache", () => {
  const fields = { cacheKey: "sess_1" };
  verifies(
    ["X10"],
    "is a key for OpenAI itself, marks for Anthropic's models at OpenRouter, and nothing elsewhere",
    () => {
      expect(encode("openaiChat", "gpt-5.6", { fields }).body).toMatchObject({ prompt_cache_key: "sess_1" });
      expect(encode("openaiResponses", "gpt-5.6", { fields }).body).toMatchObject({ prompt_cache_key: "sess_1" });
      for (const wire of ["openaiChat", "openaiResponses"]) {
        expect(encode(wire, "m", { fields, family: "openai-compatible" }).body).not.toHaveProperty("prompt_cache_key");
      }
      const routed = (model: string) => encode("openaiChat", model, { fields, family: "openrouter" }).body;
      expect(routed("anthropic/claude-opus-5")).toMatchObject({ cache_control: { type: "ephemeral" } });
      expect(routed("google/gemini-3-pro")).not.toHaveProperty("cache_control");
      for (const wire of ["anthropic", "gemini", "ollama"]) {
        expect(JSON.stringify(encode(wire, "m", { fields }).body)).not.toContain("sess_1");
      }
    },
  );
});
