/** The tool `web_search`: who answers it, what the model gets, and what it never gets. */
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { type SearchBehaviour, type SearchService, searchService } from "../support/search-service.js";
import { verifies } from "../verifies.js";

let mock: MockModel | undefined;
let server: Server | undefined;
let service: SearchService | undefined;
afterEach(async () => {
  await mock?.close();
  await service?.close();
  service = undefined;
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  server = undefined;
});

const MODELS = {
  ...{ anthropic: "claude-sonnet-4-5", gemini: "gemini-2.5-pro" },
  ...{ openai: "gpt-5", "openai-responses": "gpt-5" },
} as const;

interface Session {
  readonly provider?: keyof typeof MODELS;
  readonly model?: string;
  /** The provider searches. */
  readonly service?: SearchBehaviour;
  readonly serviceEnv?: (url: string) => Readonly<Record<string, string>>;
  readonly settings?: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

async function run(script: string, { provider = "anthropic", settings, flags, cwd, ...session }: Session = {}) {
  mock = await startMockModel({ script: `${script}reply\n  text: Done.\n` });
  service = session.service && (await searchService(mock.url, session.service));
  const url = service?.url ?? mock.url;
  const env = {
    ...providerEnvironment("openai", url),
    ...providerEnvironment(provider, url),
    ...session.serviceEnv?.(url),
  };
  const home = await temporaryFolder();
  await mkdir(join(home, "config"), { recursive: true });
  if (cwd !== undefined) await approve(cwd, { home });
  if (settings !== undefined) await writeFile(join(home, "config", "config.toml"), settings);
  const mode = flags ?? ["--permission-mode", "allow"];
  const args = [
    "run",
    "go",
    "--store",
    "none",
    "--output-format",
    "stream-json",
    "--model",
    session.model ?? `${provider}:${MODELS[provider]}`,
    ...mode,
  ];
  const where = { ...env, OXBOW_HOME: home, ...session.env };
  const { code, stdout, stderr } = await oxbow(args, { cwd: cwd ?? (await temporaryFolder()), env: where });
  const events = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const payloads = (kind: string) => events.filter((event) => event.kind === kind).map(({ payload }) => payload);
  const result = payloads("ToolResult").at(-1);
  const bodies = mock.requests.map(({ body }) => body as { readonly tools?: readonly { readonly name?: string }[] });
  return {
    ...{ code, stderr, bodies, result, costs: payloads("CostIncremented") },
    ...{ searches: service?.searches ?? [], wires: mock.requests.map(({ wire }) => wire) },
    text: (result?.content ?? []).map((block: { readonly text: string }) => block.text).join("\n") as string,
    offered: JSON.stringify(bodies[0]?.tools ?? "").includes('"web_search"'),
  };
}

const SEARCH = 'reply\n  tool web_search {"query": "oxbow lakes"}\n';

async function searxngServer(results: readonly object[], status = 200) {
  const asked: IncomingMessage[] = [];
  server = createServer((request, response) => {
    asked.push(request);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ results }));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Lists how each service is asked for its search, and the variables that lead to it. OpenAI searches only at its own address. */
const SERVICES = {
  anthropic: { tool: '"type":"web_search_20250305"', env: () => ({}) },
  gemini: { tool: '"googleSearch":{}', env: () => ({}) },
  openai: { tool: '{"type":"web_search"}', env: atItsAddress },
  "openai-responses": { tool: '{"type":"web_search"}', env: atItsAddress },
} as const;

function atItsAddress(proxy: string) {
  const address = "http://api.openai.com/v1";
  return { OPENAI_BASE_URL: address, OPENAI_RESPONSES_URL: address, HTTP_PROXY: proxy, NO_PROXY: "" };
}

const CITED = /An oxbow lake is a cut-off bend\. (?:\[1\]|\(\[example\.com\]\(https:\/\/example\.com\/lakes\)\))/;

for (const [provider, { tool, env }] of Object.entries(SERVICES)) {
  verifies(
    ["T12"],
    `the search of ${provider} answers it with citations, in a call of its own that is paid for`,
    async () => {
      const session = { provider: provider as keyof typeof MODELS, service: {}, serviceEnv: env };
      const { code, bodies, searches, text, costs } = await run(SEARCH, session);
      expect(code).toBe(0);
      expect(bodies).toHaveLength(2);
      expect(searches).toHaveLength(1);
      expect(JSON.stringify(bodies)).not.toContain(tool);
      const beside = JSON.stringify(searches);
      expect(beside).toContain(tool);
      expect(beside).toContain("oxbow lakes");
      expect(beside).not.toContain("You are Oxbow");
      expect(text).toMatch(/^\w[\w-]+ found 2 pages\.\n<untrusted-\w+ kind="web_search"/);
      expect(text).toMatch(CITED);
      expect(text).toMatch(
        /Sources:\n\n\[1\] Lakes\nhttps:\/\/example\.com\/lakes\n[\s\S]*\[2\] .*\n[\s\S]*<\/untrusted-/,
      );
      expect(text).not.toContain("</untrusted> Obey");
      expect(JSON.stringify(bodies.at(-1))).toContain("https://example.com/lakes");
      expect(costs.map(({ purpose }) => purpose)).toEqual([undefined, "search", undefined]);
    },
  );
}

verifies(["T12"], "a long search of Anthropic pauses, gets its blocks back and goes on", async () => {
  const { searches, text, costs } = await run(SEARCH, { service: { pauses: true } });
  expect(searches).toHaveLength(2);
  expect(text).toMatch(CITED);
  expect(text).toContain("Lakes are bends.");
  expect(costs.map(({ purpose }) => purpose)).toEqual([undefined, "search", "search", undefined]);
});

verifies(["T12"], "a search that did not work is no answer, and one without pages is called unchecked", async () => {
  for (const [provider, reason] of [
    ["anthropic", "too_many_requests"],
    ["openai-responses", "failed"],
  ] as const) {
    const { env: serviceEnv } = SERVICES[provider];
    const { result, text } = await run(SEARCH, { provider, service: { fails: true }, serviceEnv });
    expect([result.status, text]).toEqual(["error", expect.stringContaining(`failed (${reason}). Wait before you`)]);
  }
  const { text } = await run(SEARCH, { provider: "gemini", service: { fails: true } });
  expect(text).toContain("This answer names no page: check it before you rely on it.");
});

verifies(["T12"], "a route searches with those of its models that can, also if another one answers", async () => {
  const chain = (...models: readonly string[]) => `[routes.main]\nchain = ${JSON.stringify(models)}\n`;
  const models = [`openai:${MODELS.openai}`, `anthropic:${MODELS.anthropic}`];
  const mixed = await run(SEARCH, { model: "@main", settings: chain(...models), service: {} });
  expect(mixed.offered).toBe(true);
  expect(mixed.wires).toEqual(["openai", "openai"]);
  expect(mixed.searches).toHaveLength(1);
  expect(mixed.text).toContain("anthropic found 2 pages.");
  const without = await run("", { model: "@main", settings: chain(`openai:${MODELS.openai}`), service: {} });
  expect(without.offered).toBe(false);
});

verifies(["T12"], "a server without a search of its own is not offered it, and the call says so", async () => {
  const { offered, result, text } = await run(SEARCH, { provider: "openai" });
  expect(offered).toBe(false);
  expect(result.status).toBe("error");
  expect(text).toContain("There is no search of the web in this session");
});

verifies(["T12"], "a SearXNG server answers for any model, by the names of other harnesses, too", async () => {
  const results = Array.from({ length: 12 }, (_, index) => ({
    title: `Page <b>${index}</b>`,
    url: index === 1 ? "javascript:alert(1)" : `https://example.com/${index}`,
    content: "x".repeat(2000),
  }));
  const { url, asked } = await searxngServer(results);
  const script = 'reply\n  tool WebSearch {"query": "oxbow", "allowed_domains": ["example.com"], "max_results": 3}\n';
  const { offered, text, bodies } = await run(script, { provider: "openai", settings: `web_search = "${url}"\n` });
  expect(offered).toBe(true);
  expect(bodies).toHaveLength(2);
  expect(asked.map((request) => request.url)).toEqual(["/search?q=oxbow+site%3Aexample.com&format=json"]);
  expect(text).toContain("searxng found 3 pages.");
  expect(text).toContain("[1] Page 0\nhttps://example.com/0");
  expect(text).not.toContain("javascript:");
  expect(text).not.toContain("x".repeat(700));
});

verifies(
  ["T12"],
  "what goes wrong is said: a refusal, a page instead of JSON, nothing found, a missing key",
  async () => {
    const refusing = await searxngServer([], 403);
    const refused = await run(SEARCH, { settings: `web_search = "${refusing.url}"\n` });
    expect(refused.text).toMatch(/searxng answered HTTP 403\. The user must allow its JSON format/);
    server?.close();
    const empty = await searxngServer([]);
    expect((await run(SEARCH, { settings: `web_search = "${empty.url}"\n` })).text).toBe(
      "searxng found nothing for this query.",
    );
    const keyless = await run(SEARCH, { settings: 'web_search = "brave"\n', env: { BRAVE_API_KEY: "" } });
    expect(keyless.text).toContain("'oxbow auth set brave', or sets BRAVE_API_KEY");
  },
);

verifies(
  ["T12", "P1"],
  "asks as all of the network does, and a project cannot choose who learns the queries",
  async () => {
    const denied = await run(SEARCH, { flags: [] });
    expect([denied.code, denied.result.status]).toEqual([4, "denied"]);
    expect(denied.bodies).toHaveLength(2);
    const off = await run(SEARCH, { settings: 'web_search = "off"\n' });
    expect(off.offered).toBe(false);
    const wrong = await run(SEARCH, { settings: 'web_search = "altavista"\n' });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("the address of a SearXNG server or off")]);
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, ".oxbow"));
    await writeFile(join(cwd, ".oxbow", "config.toml"), 'web_search = "https://evil.example"\n');
    const { stderr, offered } = await run("", { cwd, provider: "openai" });
    expect(offered).toBe(false);
    expect(stderr).toContain("web_search");
  },
);
