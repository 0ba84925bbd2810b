import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createHttpClient } from "../../system/http-client.js";
import { SEARCH_ENGINES, searchWith } from "./search-engines.js";

let server: Server | undefined;
afterEach(() => server?.close());

async function asked(name: keyof typeof SEARCH_ENGINES, answer: string, status = 200) {
  const seen: Record<string, unknown>[] = [];
  server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { method, url, headers } = request;
    const key = headers["x-subscription-token"] ?? headers.authorization;
    seen.push({ method, url, key, body: body === "" ? undefined : JSON.parse(body) });
    response.writeHead(status).end(answer);
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const engine = { ...SEARCH_ENGINES[name], baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const http = createHttpClient({});
  const access = { http, headers: engine.key.headers("k"), signal: AbortSignal.timeout(5000) };
  const pages = await searchWith(engine, { query: "a b", count: 2 }, access).finally(() => http.close());
  return { pages, seen };
}

const PAGES = [1, 2, 3].map((number) => ({ title: `T${number}`, url: `https://e.com/${number}`, description: "d" }));

describe("[T12] a search engine with a key", () => {
  it("is asked as its API wants it", async () => {
    const brave = await asked("brave", JSON.stringify({ web: { results: PAGES } }));
    expect(brave.seen).toEqual([{ method: "GET", url: "/res/v1/web/search?q=a+b&count=2", key: "k", body: undefined }]);
    expect(brave.pages).toEqual([1, 2].map((n) => ({ title: `T${n}`, url: `https://e.com/${n}`, excerpt: "d" })));
    server?.close();
    const tavily = await asked("tavily", JSON.stringify({ results: PAGES }));
    expect(tavily.seen).toEqual([
      { method: "POST", url: "/search", key: "Bearer k", body: { query: "a b", max_results: 2 } },
    ]);
    expect(tavily.pages).toHaveLength(2);
  });

  it.each([
    [401, "{}", /HTTP 401\. The user must check its key \(BRAVE_API_KEY, or 'oxbow auth set brave'\)/],
    [429, "{}", /HTTP 429\. It takes no more searches now/],
    [200, "<html>", /did not answer with JSON/],
    [200, "[1]", /did not answer with JSON/],
  ])("says what is wrong: %s %s", async (status, answer, words) => {
    await expect(asked("brave", answer, status)).rejects.toThrow(words);
  });

  it("may find nothing, or something else than pages", async () => {
    for (const answer of [{}, { web: {} }, { web: { results: [1, null, { url: 5 }] } }])
      expect((await asked("brave", JSON.stringify(answer))).pages).toEqual([]);
  });
});
