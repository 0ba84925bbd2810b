import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import shipped from "../../../assets/models.txt";
import { verifies } from "../../../test/verifies.js";
import type { JsonValue } from "../../protocol/json.js";
import { createHttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { findProvider, NAMED_PROVIDERS, type NamedProvider } from "../named.js";
import { Catalogue } from "./catalogue.js";
import { costOf } from "./facts.js";
import { ModelIndex } from "./match.js";
import { fromModelsDev } from "./models-dev.js";
import { defaultModelOf } from "./newest.js";
import { readOverrides } from "./overrides.js";
import { refreshCatalogue } from "./refresh.js";
import { parseTable, renderTable } from "./table.js";

const usage = (input: number, output: number, cache_read = 0, cache_write = 0) => ({
  input,
  output,
  cache_read,
  cache_write,
  reasoning: 0,
});

describe("the catalogue that ships", () => {
  verifies(["M14"], "is small, dated, and knows the providers and the default models", async () => {
    expect(shipped.length).toBeLessThan(60_000);
    const { date, providers } = parseTable(shipped);
    expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
    expect([...providers.keys()]).toEqual([
      ...["anthropic", "openai", "gemini", "mistral", "deepseek", "openrouter", "zai", "groq", "fireworks", "copilot"],
    ]);
    for (const models of providers.values()) {
      for (const [id, { context, output, price }] of models) {
        expect(context, id).toBeGreaterThanOrEqual(output);
        if (price !== undefined) expect(price.output, id).toBeGreaterThanOrEqual(0);
      }
    }
    expect(renderTable({ date, providers }, "x")).toBe(shipped.replace(/^(# .*\n)+/, "# x\n"));
  });

  it("is what the asset was made into, line by line", () => {
    const text =
      "# c\ndate 2026-01-02 tira\n\n[one]\na/b:free 400k/272k 128k 0 0 - - tra >200k 1 2.5 .25 -\nplain 8192 10 - - - - -\n";
    const table = parseTable(text);
    expect(table.providers.get("one")?.get("a/b:free")).toEqual({
      context: 400_000,
      input: 272_000,
      output: 128_000,
      price: { input: 0, output: 0, tiers: [{ over: 200_000, input: 1, output: 2.5, cache_read: 0.25 }] },
      abilities: { tools: true, images: false, reasoning: true, audio: true },
    });
    expect(table.providers.get("one")?.get("plain")).toMatchObject({ abilities: { audio: false } });
    // A catalogue that an older version fetched knows nothing about audio.
    const older = parseTable("date 2026-01-02\n[one]\nplain 8192 10 - - - - t\n").providers.get("one")?.get("plain");
    expect(older?.abilities).toEqual({ tools: true, images: false, reasoning: false });
    expect(table.providers.get("one")?.get("plain")?.price).toBeUndefined();
    expect(renderTable(table, "c")).toBe(text);
  });

  it.each([
    ["date 2026-13", "line 1: expected 'date YYYY-MM-DD'"],
    ["[one]\na 1k 1k 1 1 - - t", "it has no date"],
    ["date 2026-01-02\n[one]\na 1x 1k 1 1 - - t", "line 3: '1x' is not a number of tokens"],
    ["date 2026-01-02\n[one]\na 1k 1k -1 1 - - t", "line 3: '-1' is not a price"],
    ["date 2026-01-02\n[one]\na 1k 1k 1 1 - - q", "line 3: 'q' are not abilities"],
    ["date 2026-01-02\n[one]\na 1k 1k 1 1 - - t 200k 1 1 - -", "line 3: '200k' is not a tier"],
  ])("refuses %j", (text, message) => {
    expect(() => parseTable(text)).toThrow(message);
  });
});

describe("the cost of a call", () => {
  const price = {
    input: 3,
    output: 15,
    cache_read: 0.3,
    cache_write: 3.75,
    tiers: [{ over: 200_000, input: 6, output: 22.5 }],
  };

  verifies(["M14"], "counts cache reads and writes at their own rates", () => {
    expect(costOf(usage(1000, 100, 10_000, 2000), price)).toEqual({
      usd: 0.015,
      input: 0.003,
      output: 0.0015,
      cache_read: 0.003,
      cache_write: 0.0075,
    });
  });

  it("takes the dearer rates for the whole of a long prompt, cached or not", () => {
    expect(costOf(usage(1000, 0, 199_000), price).usd).toBeCloseTo(0.0627, 10);
    expect(costOf(usage(1000, 100, 200_000), price)).toMatchObject({ input: 0.006, output: 0.00225, cache_read: 1.2 });
  });

  it("charges cached tokens as input where no other rate is known, and adds up exactly", () => {
    expect(costOf(usage(10, 0, 10, 10), { input: 0.1, output: 1 }).usd).toBe(0.000003);
    expect(costOf(usage(1, 1), { input: 0.0001, output: 0.0002 }).usd).toBe(0.0000000003);
  });
});

describe("finding a model", () => {
  const index = new ModelIndex("anthropic", [
    "claude-sonnet-4-5",
    "claude-opus-4-20250514",
    "old-model-20240620",
    "old-model-20241022",
    "gpt-5",
    "gpt-5-mini",
    "gpt-4o",
    "gpt-4o-2024-05-13",
    "vendor/name",
    "gemini-2.0-flash",
  ]);

  it.each([
    ["claude-sonnet-4-5", "claude-sonnet-4-5", false],
    ["Claude-Sonnet-4.5", "claude-sonnet-4-5", false],
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5", true],
    ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5", true],
    ["claude-sonnet-4-5-latest", "claude-sonnet-4-5", true],
    ["claude-opus-4", "claude-opus-4-20250514", true],
    ["old-model-latest", "old-model-20241022", true],
    ["anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", false],
    ["models/gemini-2.0-flash-001", "gemini-2.0-flash", true],
    ["gpt-4o-2024-05-13", "gpt-4o-2024-05-13", false],
    ["gpt-4o-2024-11-20", "gpt-4o", true],
    ["vendor/name", "vendor/name", false],
  ])("%s is %s", (name, id, similar) => {
    expect(index.find(name)).toEqual({ id, similar });
  });

  it.each(["gpt-5-nano", "gpt", "claude-sonnet", "other/name", "vendor/name:free", ""])(
    "%j is none of them",
    (name) => {
      expect(index.find(name)).toBeUndefined();
    },
  );
});

describe("facts of a model", () => {
  const catalogue = new Catalogue();

  verifies(
    ["M14"],
    "are those of the provider, also by dated names, paths and the provider's other protocol",
    async () => {
      const sonnet = await catalogue.facts({ provider: "anthropic", model: "claude-sonnet-4-5-20250929" });
      expect(sonnet).toMatchObject({ source: "catalogue", abilities: { tools: true } });
      const gemini = await catalogue.facts({ provider: "gemini", model: "models/gemini-2.5-flash" });
      expect(gemini).toEqual(await catalogue.facts({ provider: "gemini", model: "gemini-2.5-flash" }));
      const responses = await catalogue.facts({ provider: "openai-responses", model: "gpt-5-mini" });
      expect(responses.price).toEqual((await catalogue.facts({ provider: "openai", model: "gpt-5-mini" })).price);
      const routed = await catalogue.facts({ provider: "openrouter", model: "anthropic/claude-sonnet-4.5" });
      expect(routed.price?.tiers).toHaveLength(1);
    },
  );

  verifies(["M14"], "have no price if none is listed", async () => {
    const unknown = await catalogue.facts({ provider: "anthropic", model: "brand-new" });
    expect(unknown).toMatchObject({ source: "assumed", assumed: true, context: 32_768 });
    expect(unknown.note).toContain("its price is unknown");
    const foreign = await catalogue.facts({ provider: "openai", family: "openai-compatible", model: "gpt-5" });
    const variant = await catalogue.facts({ provider: "openrouter", model: "anthropic/claude-sonnet-4.5:nitro" });
    for (const facts of [unknown, foreign, variant]) expect(facts.price).toBeUndefined();
    expect(foreign).toMatchObject({ context: 400_000, source: "catalogue" });
  });

  it("of local models are free of charge, but not those of Ollama's own service", async () => {
    const price = { input: 0, output: 0 };
    expect(await catalogue.facts({ provider: "offline", model: "offline" })).toMatchObject({ price, source: "local" });
    expect(await catalogue.facts({ provider: "ollama", model: "llama3" })).toMatchObject({ price, assumed: true });
    expect((await catalogue.facts({ provider: "ollama", model: "big:cloud" })).price).toBeUndefined();
  });

  verifies(["M14"], "are what the user says, where they say something", async () => {
    const overrides = readOverrides({
      "openai:gpt-5": { context: 1000, price_input: 1, price_output: 2, price_cache_read: 0 },
      "own:thing": { price_input: 5, price_output: 6, images: true },
    });
    const own = new Catalogue({ overrides });
    const known = await own.facts({ provider: "openai", model: "gpt-5", family: "openai-compatible" });
    expect(known).toMatchObject({
      source: "profile",
      context: 1000,
      output: 128_000,
      price: { input: 1, output: 2, cache_read: 0 },
    });
    expect(known.input).toBeUndefined();
    const thing = await own.facts({ provider: "own", model: "thing" });
    expect(thing).toMatchObject({ source: "profile", assumed: true, abilities: { images: true, tools: true } });
    expect(thing.price).toEqual({ input: 5, output: 6 });
  });

  it.each([
    [[], "expected tables"],
    [{ gpt: {} }, "expected PROVIDER:NAME"],
    [{ "a:b": 1 }, "expected a table"],
    [{ "a:b": { price: 1 } }, "there is no 'price'; there are context"],
    [{ "a:b": { context: 0 } }, "context: expected a number from 1, got 0"],
    [{ "a:b": { price_input: -1, price_output: 1 } }, "price_input: expected a number from 0"],
    [{ "a:b": { price_input: 1 } }, "a price needs price_input and price_output"],
    [{ "a:b": { tools: "yes" } }, "tools: expected true or false"],
  ])("refuses %j", (value, message) => {
    expect(() => readOverrides(value)).toThrow(message);
  });

  it("come from the newer of the shipped and the fetched list; a damaged one is ignored", async () => {
    const facts = async (text: string | undefined) =>
      new Catalogue({ readFetched: async () => text }).facts({ provider: "anthropic", model: "claude-sonnet-4-5" });
    const own = "[anthropic]\nclaude-sonnet-4-5 1k 10 7 8 - - t\n";
    expect((await facts(`date 2099-01-01\n${own}`)).price).toEqual({ input: 7, output: 8 });
    expect((await facts(`date 2020-01-01\n${own}`)).price?.input).toBe(3);
    expect((await facts("nonsense")).price?.input).toBe(3);
    expect((await facts(undefined)).price?.input).toBe(3);
  });
});

/** A document in the form of models.dev, with more models than are needed to be believed. */
function document(): Record<string, JsonValue> {
  const model = {
    limit: { context: 1000, output: 100 },
    modalities: { input: ["text"], output: ["text"] },
    tool_call: true,
  };
  const models = Object.fromEntries(
    Array.from({ length: 25 }, (_, i) => [`m${i}`, { ...model, cost: { input: 1, output: i } }]),
  );
  return { anthropic: { id: "anthropic", models }, unrelated: { models } };
}

describe("the public catalogue", () => {
  it("is read with its tiers and abilities, without what makes no sense", () => {
    const text = { input: ["text", "image"], output: ["text"] };
    const limit = { context: 1000, output: 2000, input: 900 };
    const google = {
      tiered: {
        limit,
        modalities: text,
        reasoning: true,
        cost: { input: 1, output: 2, tiers: [{ tier: { size: 500 }, input: 3, output: 4 }] },
      },
      older: {
        limit,
        modalities: text,
        cost: { input: 1, output: 2, context_over_200k: { input: 5, output: 6, cache_read: 7 } },
      },
      unpriced: { limit, modalities: text },
      odd: { limit, modalities: text, cost: { input: -1, output: 2 } },
      painter: { limit, modalities: { input: ["text"], output: ["image"] } },
      endless: { limit: { context: "many", output: 5 }, modalities: text },
      "with space": { limit, modalities: text },
    };
    const { providers } = fromModelsDev({ ...document(), google: { models: google } }, "2026-01-02");
    expect([...providers.keys()]).toEqual(["anthropic", "gemini"]);
    const gemini = providers.get("gemini");
    expect([...(gemini?.keys() ?? [])]).toEqual(["odd", "older", "tiered", "unpriced"]);
    expect(gemini?.get("tiered")).toEqual({
      context: 1000,
      input: 900,
      output: 1000,
      price: { input: 1, output: 2, tiers: [{ over: 500, input: 3, output: 4 }] },
      abilities: { tools: false, images: true, reasoning: true, audio: false },
    });
    expect(gemini?.get("older")?.price?.tiers).toEqual([{ over: 200_000, input: 5, output: 6, cache_read: 7 }]);
    expect(gemini?.get("odd")?.price).toBeUndefined();
  });

  it.each([[[]], [null], [{}], [{ error: "over quota" }], [{ anthropic: { models: { a: {} } } }]])(
    "is refused as %j",
    (value) => {
      expect(() => fromModelsDev(value, "2026-01-02")).toThrow();
    },
  );
});

describe("a refresh", () => {
  const servers: Server[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });

  async function refreshFrom(status: number, body: string) {
    const server = createServer((_request, response) => response.writeHead(status).end(body));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const folder = folders[0] ?? (await mkdtemp(join(tmpdir(), "oxbow-catalogue-")));
    if (folders.length === 0) folders.push(folder);
    const file = join(folder, "cache", "models.txt");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.json`;
    const http = createHttpClient({ clock: nodeClock });
    return { file, done: refreshCatalogue({ url, file, http, today: "2099-01-02" }) };
  }

  verifies(["M14"], "stores a fetched catalogue; an invalid one changes nothing", async () => {
    const { file, done } = await refreshFrom(200, JSON.stringify(document()));
    expect((await done).date).toBe("2099-01-02");
    const text = await readFile(file, "utf8");
    const catalogue = new Catalogue({ readFetched: async () => text });
    expect((await catalogue.facts({ provider: "anthropic", model: "m7" })).price).toEqual({ input: 1, output: 7 });
    const bad = [
      [500, "no", "answered with HTTP 500"],
      [200, "<html>", "did not answer with JSON"],
      [200, "{}", "is not a catalogue of models: it lists only 0 models"],
    ] as const;
    for (const [status, body, message] of bad) {
      const again = await refreshFrom(status, body);
      await expect(again.done).rejects.toThrow(message);
    }
    expect(await readFile(file, "utf8")).toBe(text);
    expect(await readdir(join(file, ".."))).toEqual(["models.txt"]);
  });
});

describe("[M3] the default model of a provider", () => {
  const made: string[] = [];
  afterEach(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
  });
  const home = (text: string) => {
    const folder = mkdtempSync(join(tmpdir(), "oxbow-newest-"));
    made.push(folder);
    writeFileSync(join(folder, "models.txt"), text);
    return folder;
  };
  const named = (name: string) => findProvider(name) as NamedProvider;

  it("is a listed model of each service, and none that a newer one of its family replaces", async () => {
    const services = NAMED_PROVIDERS.filter(({ local }) => !local);
    for (const service of services) expect(defaultModelOf(service)).toMatch(/^[^*]+$/);
    const ids = await new Catalogue().ids("anthropic");
    const versions = ids.flatMap(
      (id) => /^claude-sonnet-(\d{1,2}(?:-\d{1,2})?)$/.exec(id)?.[1]?.replace("-", ".") ?? [],
    );
    const newest = Math.max(...versions.map(Number));
    expect(defaultModelOf(named("anthropic"))).toBe(`claude-sonnet-${String(newest).replace(".", "-")}`);
    const order = new Intl.Collator("en", { numeric: true });
    for (const service of services.filter(({ defaultModel }) => defaultModel?.includes("*"))) {
      const [before = "", after = ""] = service.defaultModel?.split("*") ?? [];
      const form = new RegExp(`^${before.replaceAll(".", "\\.")}\\d{1,2}(?:[.p-]\\d{1,2})?${after}$`);
      const own = await new Catalogue().ids(service.name);
      const family = own.filter((id) => form.test(id)).sort(order.compare);
      // A service without a section has the models of another one.
      if (own.length > 0) expect(family.at(-1), service.name).toBe(defaultModelOf(service));
    }
    expect(defaultModelOf(named("claude"))).toBe(defaultModelOf(named("anthropic")));
    expect(defaultModelOf(named("openai-responses"))).toBe(defaultModelOf(named("openai")));
  });

  it("follows a newer catalogue that was fetched, and ignores an older one", () => {
    const list =
      "[openai]\ngpt-9-mini 1k 1k - - - - t\ngpt-10.2-mini 1k 1k - - - - t\ngpt-10-mini-20990101 1k 1k - - - - t\n";
    expect(defaultModelOf(named("openai"), home(`date 2999-01-01\n\n${list}`))).toBe("gpt-10.2-mini");
    expect(defaultModelOf(named("openai"), home(`date 2001-01-01\n\n${list}`))).toBe(defaultModelOf(named("openai")));
    expect(defaultModelOf(named("gemini"), home(`date 2999-01-01\n\n${list}`))).toBe(defaultModelOf(named("gemini")));
  });

  it("is the name itself where a provider's file gives one", () => {
    expect(defaultModelOf({ name: "acme", wire: "openai-chat", defaultModel: "acme-large" })).toBe("acme-large");
    expect(defaultModelOf({ name: "acme", wire: "openai-chat", defaultModel: "acme-*" })).toBeUndefined();
  });
});
