import { describe, expect, it } from "vitest";
import { compatibleUrl, geminiModelsUrl, geminiUrl, shownUrl, unversionedUrl, versionedUrl } from "./url.js";

describe("base URLs", () => {
  it.each([
    ["https://host", "https://host/v1/messages"],
    ["https://host/", "https://host/v1/messages"],
    ["https://host/v1", "https://host/v1/messages"],
    ["https://host/v1/", "https://host/v1/messages"],
    ["https://host/v1/messages", "https://host/v1/messages"],
    ["https://host/anthropic", "https://host/anthropic/v1/messages"],
    ["http://host:1/a%2Fb?x=1", "http://host:1/a%2Fb/v1/messages?x=1"],
  ])("that name the host: %s", (base, url) => expect(versionedUrl(base, "/messages")).toBe(url));

  it.each([
    ["https://host", "https://host/v1/chat/completions"],
    ["https://host//", "https://host/v1/chat/completions"],
    ["https://host/v1/", "https://host/v1/chat/completions"],
    ["https://host/openai/v1", "https://host/openai/v1/chat/completions"],
    ["https://host/api/paas/v4", "https://host/api/paas/v4/chat/completions"],
    ["https://host/v1/chat/completions", "https://host/v1/chat/completions"],
    ["https://host/deployments/x?api-version=1", "https://host/deployments/x/chat/completions?api-version=1"],
  ])("that hold the version: %s", (base, url) => expect(compatibleUrl(base, "/chat/completions")).toBe(url));

  it.each([
    ["https://host", "gemini-3-pro", "https://host/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse"],
    ["https://host/v1beta/", "models/m", "https://host/v1beta/models/m:streamGenerateContent?alt=sse"],
    ["https://host/v1/models", "m", "https://host/v1/models/m:streamGenerateContent?alt=sse"],
    ["https://host/gateway?x=1", "m", "https://host/gateway/v1beta/models/m:streamGenerateContent?x=1&alt=sse"],
    ["https://host/v1beta", "tunedModels/a b", "https://host/v1beta/tunedModels/a%20b:streamGenerateContent?alt=sse"],
    [
      "https://host/v1/projects/p/locations/l/publishers/google",
      "m",
      "https://host/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse",
    ],
  ])("that the model's name follows: %s, %s", (base, model, url) => expect(geminiUrl(base, model)).toBe(url));

  it("that list Gemini's models", () => {
    expect(geminiModelsUrl("https://host/")).toBe("https://host/v1beta/models?pageSize=1000");
    expect(geminiModelsUrl("https://host/v1/models")).toBe("https://host/v1/models?pageSize=1000");
    expect(geminiModelsUrl("nonsense")).toBe("nonsense");
  });

  it.each([
    ["http://host:11434", "http://host:11434/api/chat"],
    ["http://host:11434/", "http://host:11434/api/chat"],
    ["http://host:11434/v1", "http://host:11434/api/chat"],
    ["http://host:11434/api", "http://host:11434/api/chat"],
    ["http://host/ollama/", "http://host/ollama/api/chat"],
  ])("without a version: %s", (base, url) => expect(unversionedUrl(base, "/api/chat")).toBe(url));

  it("leaves what is no URL to the client, and shows no secrets", () => {
    expect(versionedUrl("nonsense", "/messages")).toBe("nonsense");
    expect(shownUrl("https://me:word@host/v1/x?key=1")).toBe("https://host/v1/x");
  });
});
