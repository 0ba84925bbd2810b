/**
 * Reads the public catalogue of models.dev (https://models.dev/api.json: providers by id, each with its models by id, prices in US
 * dollars per million tokens) into ours. The data is not trusted: a model with impossible numbers is skipped, and a
 * document with too few usable models is refused.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import type { ListedFacts, Price, Rates } from "./facts.js";
import { ratesOf } from "./facts.js";
import type { CatalogueTable } from "./table.js";

/** Our names of providers, with theirs. */
const PROVIDERS: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  gemini: "google",
  mistral: "mistral",
  deepseek: "deepseek",
  openrouter: "openrouter",
  zai: "zai",
  groq: "groq",
  fireworks: "fireworks-ai",
  copilot: "github-copilot",
};

/** A catalogue with fewer models is not a real one. */
const LEAST_MODELS = 20;
const MOST_TOKENS = 1e9;
/** No model costs that much: a higher price is in another unit. */
const MOST_DOLLARS = 10_000;

/** Throws with a message for the user. */
export function fromModelsDev(document: JsonValue, date: string): CatalogueTable {
  if (!isJsonObject(document)) throw new Error("it is not a list of providers");
  const providers = new Map<string, Map<string, ListedFacts>>();
  let count = 0;
  for (const [name, theirs] of Object.entries(PROVIDERS)) {
    const models = readModels(name, document[theirs]);
    if (models.size > 0) providers.set(name, models);
    count += models.size;
  }
  if (count < LEAST_MODELS) throw new Error(`it lists only ${count} models that Oxbow can use`);
  return { date, providers };
}

function readModels(provider: string, value: JsonValue | undefined): Map<string, ListedFacts> {
  const listed = isJsonObject(value) && isJsonObject(value.models) ? Object.entries(value.models) : [];
  const models = new Map<string, ListedFacts>();
  for (const [id, model] of listed.sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (/\s/.test(id) || id === "" || !isJsonObject(model)) continue;
    const facts = readModel(model);
    // A router between models has a different price for each request.
    const isRouter = provider === "openrouter" && (id.startsWith("openrouter/") || id.startsWith("~"));
    // OpenRouter lists hundreds of models; those without tool calls are useless here.
    const isUseful = provider !== "openrouter" || facts?.abilities.tools === true;
    if (facts !== undefined && !isRouter && isUseful) models.set(id, facts);
  }
  return models;
}

function readModel({ limit, cost, modalities, tool_call, reasoning }: JsonObject): ListedFacts | undefined {
  if (!isJsonObject(limit)) return undefined;
  const context = tokens(limit.context);
  const input = tokens(limit.input);
  const output = tokens(limit.output);
  if (context === undefined || output === undefined || !writesText(modalities)) return undefined;
  const price = readPrice(cost);
  return {
    context,
    ...(input !== undefined && input < context && { input }),
    output: Math.min(output, context),
    ...(price !== undefined && { price }),
    abilities: {
      tools: tool_call === true,
      images: kinds(modalities, "input").includes("image"),
      reasoning: reasoning === true,
      audio: kinds(modalities, "input").includes("audio"),
    },
  };
}

function readPrice(cost: JsonValue | undefined): Price | undefined {
  if (!isJsonObject(cost)) return undefined;
  const rates = readRates(cost);
  if (rates === undefined) return undefined;
  const listed = Array.isArray(cost.tiers) ? cost.tiers : [];
  const tiers = listed.flatMap((tier) => {
    if (!isJsonObject(tier) || !isJsonObject(tier.tier)) return [];
    const over = tokens(tier.tier.size);
    const dearer = readRates(tier);
    return over === undefined || dearer === undefined ? [] : [{ over, ...dearer }];
  });
  const older = isJsonObject(cost.context_over_200k) ? readRates(cost.context_over_200k) : undefined;
  if (tiers.length === 0 && older !== undefined) tiers.push({ over: 200_000, ...older });
  return tiers.length === 0 ? rates : { ...rates, tiers: tiers.sort((a, b) => b.over - a.over) };
}

function readRates(value: JsonObject): Rates | undefined {
  const [input, output] = [dollars(value.input), dollars(value.output)];
  const [cache_read, cache_write] = [dollars(value.cache_read), dollars(value.cache_write)];
  return ratesOf({ input, output, cache_read, cache_write });
}

function writesText(modalities: JsonValue | undefined): boolean {
  const written = kinds(modalities, "output");
  return written.length === 1 && written[0] === "text" && kinds(modalities, "input").includes("text");
}

function kinds(modalities: JsonValue | undefined, direction: "input" | "output"): readonly JsonValue[] {
  const listed = isJsonObject(modalities) ? modalities[direction] : undefined;
  return Array.isArray(listed) ? listed : [];
}

function tokens(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= MOST_TOKENS ? value : undefined;
}

function dollars(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && value >= 0 && value <= MOST_DOLLARS ? value : undefined;
}
