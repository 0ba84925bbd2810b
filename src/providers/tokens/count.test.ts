import { afterEach, describe, expect, it } from "vitest";
import { sampleKey } from "../../../test/support/program.js";
import { verifies } from "../../../test/verifies.js";
import type { ModelRequest } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { createHttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { type MockModel, startMockModel } from "../../testkit/index.js";
import { createHttpModel } from "../http-model.js";
import { anthropic } from "../wire/anthropic.js";
import { gemini } from "../wire/gemini.js";
import { openaiChat } from "../wire/openai-chat.js";
import type { Wire } from "../wire/wire.js";
import { estimateRequestTokens } from "./estimate-request.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

const request: ModelRequest = {
  model: "mock-model",
  system: "You are brief.",
  messages: [{ role: "user", content: [text("How many words are in this sentence?")] }],
  tools: [{ name: "look", description: "Looks.", inputSchema: { type: "object", properties: {} } }],
  maxOutputTokens: 100,
};

async function modelOver<State>(wire: Wire<State>, more: { path?: string } = {}) {
  const mock = await startMockModel({ script: "reply\n  text: x\n" });
  mocks.push(mock);
  const endpoint = {
    provider: "p",
    family: wire.name,
    baseUrl: `${mock.url}${more.path ?? ""}`,
    key: sampleKey(),
    local: true,
  };
  const model = createHttpModel({ wire, endpoint, model: "mock-model", http: createHttpClient({ clock: nodeClock }) });
  const context = { model, signal: new AbortController().signal };
  return { mock, count: () => model.countTokens?.(request, context) };
}

describe("a provider's own count", () => {
  verifies(["M1"], "sends the fields that Anthropic counts, and none that it refuses", async () => {
    const { count, mock } = await modelOver(anthropic);
    expect(await count()).toBeGreaterThan(0);
    const [asked] = mock.lookups;
    expect(asked?.path).toBe("/v1/messages/count_tokens");
    expect(Object.keys(asked?.body ?? {}).sort()).toEqual(["messages", "model", "system", "tools"]);
    expect(mock.failures).toEqual([]);
  });

  verifies(["M1"], "sends the whole request to Gemini", async () => {
    const { count, mock } = await modelOver(gemini);
    const counted = await count();
    const [asked] = mock.lookups;
    expect(asked?.path).toMatch(/^\/v1beta\/models\/mock-model:countTokens$/);
    expect(asked?.body).toMatchObject({
      generateContentRequest: { model: "models/mock-model", systemInstruction: {}, contents: [{}], tools: [{}] },
    });
    expect(counted).toBeGreaterThan(0);
  });

  it("is not offered by others, and a server that does not answer has none", async () => {
    const { count } = await modelOver(openaiChat);
    expect(count()).toBeUndefined();
    const { count: lost } = await modelOver(anthropic, { path: "/nowhere" });
    expect(await lost()).toBeUndefined();
  });
});

describe("an estimate of a request", () => {
  it("grows with what is in it, and an image counts as one", () => {
    const base = estimateRequestTokens(request, "anthropic");
    expect(base).toBeGreaterThan(500);
    expect(estimateRequestTokens({ ...request, tools: [] }, "anthropic")).toBeLessThan(100);
    const image = { type: "image", media_type: "image/png", data: "A".repeat(100_000) } as const;
    const seen = { ...request, messages: [{ role: "user", content: [image] } as const] };
    expect(estimateRequestTokens(seen, "openai")).toBeLessThan(2000);
    const call = { type: "tool_use", call: "call_1", tool: "look", args: { words: "one two ".repeat(500) } } as const;
    const longer = { ...request, messages: [...request.messages, { role: "assistant", content: [call] } as never] };
    expect(estimateRequestTokens(longer, "openai") - estimateRequestTokens(request, "openai")).toBeGreaterThan(900);
  });
});
