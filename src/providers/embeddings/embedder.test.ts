import { afterEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { systemClock } from "../../base/clock.js";
import { createHttpClient } from "../../system/http-client.js";
import {
  hashEmbedding,
  type MockEmbeddings,
  type MockEmbeddingsOptions,
  startMockEmbeddings,
} from "../../testkit/mock-embeddings.js";
import type { WireName } from "../named.js";
import { createEmbedder } from "./embedder.js";

let server: MockEmbeddings;
afterEach(() => server.close());

async function open(wire: WireName, options: MockEmbeddingsOptions = {}, key?: string) {
  server = await startMockEmbeddings(options);
  const baseUrl = wire === "ollama" ? server.url : `${server.url}/v1`;
  const endpoint = { provider: "here", family: "here", baseUrl, local: true, ...(key !== undefined && { key }) };
  // Pauses pass at once.
  const clock = { ...systemClock, after: (_ms: number, call: () => void) => systemClock.after(0, call) };
  const embedder = createEmbedder({ wire, endpoint, model: "m:latest", http: createHttpClient(), clock });
  if (embedder === undefined) throw new Error("none");
  return embedder;
}

describe("embedding models", () => {
  const texts = ["one text", "another text", ""];

  verifies(
    ["X6"],
    "of Ollama, OpenAI-compatible servers and llama.cpp give a vector for each text, in order",
    async () => {
      for (const [wire, options, path] of [
        ["ollama", {}, "/api/embed"],
        ["openai-chat", {}, "/v1/embeddings"],
        ["openai-chat", { without: ["/v1/embeddings"] }, "/embedding"],
      ] as const) {
        const embedder = await open(wire, options, "k".repeat(12));
        expect(embedder.model).toBe("here:m");
        const vectors = await embedder.embed(texts);
        expect(vectors.map((vector) => [...vector])).toEqual(texts.map((text) => [...hashEmbedding(text)]));
        expect(server.requests.at(-1)).toMatchObject({ path, authorization: `Bearer ${"k".repeat(12)}` });
        await server.close();
      }
      server = await startMockEmbeddings();
    },
  );

  it("repeat a request that failed for a moment, and no other", async () => {
    let refusals = 2;
    const patient = await open("ollama", { onRequest: () => (refusals-- > 0 ? 503 : undefined) });
    expect((await patient.embed(["a"])).length).toBe(1);
    expect(server.requests.length).toBe(3);
    await server.close();
    const refused = await open("openai-chat", { onRequest: () => 401 });
    await expect(refused.embed(["a"])).rejects.toThrow("here");
    expect(server.requests.length).toBe(1);
  });

  it("say that they gave up, and promise no further attempt", async () => {
    const busy = await open("ollama", { onRequest: () => 429 });
    await expect(busy.embed(["a"])).rejects.toThrow(
      /^here is rate-limiting requests \(4 attempts\)\. Try again later\.$/,
    );
    expect(server.requests.length).toBe(4);
  });

  it("ask for many texts in several requests", async () => {
    const embedder = await open("ollama");
    expect((await embedder.embed(Array.from({ length: 130 }, (_, i) => `text ${i}`))).length).toBe(130);
    expect(server.requests.map(({ texts: asked }) => asked.length)).toEqual([64, 64, 2]);
  });

  it("stop with the signal", async () => {
    const stop = new AbortController();
    const embedder = await open("ollama", { onRequest: () => new Promise(() => stop.abort(new Error("enough"))) });
    await expect(embedder.embed(["a"], stop.signal)).rejects.toThrow("enough");
  });
});
