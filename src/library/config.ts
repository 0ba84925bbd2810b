/** The settings of a library harness: checked once, at construction, with the defaults filled in. */

import { parseBudget } from "../base/budget-text.js";
import type { BudgetLimit } from "../costs/budget.js";
import type { Effort } from "../engine/ports.js";
import type { Price } from "../providers/catalogue/facts.js";
import { defaultModelOf } from "../providers/catalogue/newest.js";
import type { Endpoint } from "../providers/http-model.js";
import { endpointOf, findProvider, NAMED_PROVIDERS, type NamedProvider, type WireName } from "../providers/named.js";
import type { NetworkPlan } from "../system/network/network.js";
import type { CostOptions } from "./costs.js";
import { invalid } from "./errors.js";
import { refuseUnknown } from "./options.js";

export interface HarnessConfig {
  /** The provider's key. The library reads no environment variables. Empty only for a provider that needs none. */
  readonly apiKey: string | undefined;
  /** Default: `claude-haiku-4-5`. */
  readonly model?: string | undefined;
  /** The limit of one answer; default: 4096. */
  readonly maxTokens?: number | undefined;
  /** Sent unchanged; if tools return text from outside, a sentence about that follows. */
  readonly systemPrompt?: string | undefined;
  /** The number of model calls for one prompt; default: 10. */
  readonly maxTurns?: number | undefined;
  /** The longest wait of a model call for a busy or failing provider, in milliseconds; default: 0, no retries. */
  readonly retryWaitMs?: number | undefined;
  /** The amount of thinking, where the provider supports it. Default: the model decides. */
  readonly effort?: Effort | undefined;
  /** The context window in tokens. If set, a conversation is compacted before it is full. */
  readonly contextTokens?: number | undefined;
  /** The part of the window at which it compacts; default: 0.8. `false`: only compact() does. */
  readonly compactAt?: number | false | undefined;
  /** The budget of all prompts together: `"0.50"` (US dollars), `"200k tokens"`, `"$2, 1M tokens"`; default: no limit. */
  readonly budget?: string | undefined;
  /** The budget of each prompt. */
  readonly budgetTurn?: string | undefined;
  /** The price of the model in US dollars per million tokens; default: from the catalogue. */
  readonly price?: HarnessPrice | undefined;
  /** `wrap` (default) marks results of tools as text from outside; `plain` sends them unchanged. */
  readonly untrustedResults?: "wrap" | "plain" | undefined;
  /** Another address of the provider's API. */
  readonly baseUrl?: string | undefined;
  /** Default: `anthropic`. */
  readonly provider?: string | undefined;
  /** An HTTP proxy for the provider, such as `http://USER:PASSWORD@proxy:3128`; default: none. */
  readonly proxy?: string | undefined;
  /** Hosts to reach without the proxy, as in NO_PROXY. */
  readonly noProxy?: string | undefined;
  /** A file of additional certificate authorities. */
  readonly caFile?: string | undefined;
  /** A file for the model traffic (docs/testing.md). It must not exist yet. */
  readonly record?: string | undefined;
  /** Such a file to answer from instead of the provider; then no apiKey is needed. */
  readonly replay?: string | undefined;
}

export interface HarnessPrice {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number | undefined;
  readonly cache_write?: number | undefined;
}

export interface ResolvedConfig {
  readonly endpoint: Endpoint;
  readonly wire: WireName;
  readonly model: string;
  readonly maxTokens: number;
  readonly systemPrompt: string;
  readonly untrustedResults: "wrap" | "plain";
  readonly maxTurns: number;
  readonly retryWaitMs: number;
  readonly effort: Effort | undefined;
  readonly contextTokens: number | undefined;
  readonly compactAt: number | undefined;
  /** Undefined without a proxy. */
  readonly network: NetworkPlan | undefined;
  readonly cassette: { readonly record: string } | { readonly replay: string } | undefined;
  /** Undefined without a listener. */
  readonly costs: CostOptions | undefined;
}

const DEFAULT_PROVIDER = "anthropic";
const DEFAULT_MODEL = "claude-haiku-4-5";
const DEFAULT_MAX_TOKENS = 4096;
const DEFAULT_MAX_TURNS = 10;
const DEFAULT_COMPACT_AT = 0.8;

const KNOWN: Readonly<Record<keyof HarnessConfig, true>> = {
  apiKey: true,
  model: true,
  maxTokens: true,
  systemPrompt: true,
  maxTurns: true,
  retryWaitMs: true,
  effort: true,
  contextTokens: true,
  compactAt: true,
  budget: true,
  budgetTurn: true,
  price: true,
  untrustedResults: true,
  baseUrl: true,
  provider: true,
  proxy: true,
  noProxy: true,
  caFile: true,
  record: true,
  replay: true,
};
const KNOWN_PRICES: Readonly<Record<keyof HarnessPrice, true>> = {
  input: true,
  output: true,
  cache_read: true,
  cache_write: true,
};

export function readConfig(config: HarnessConfig): ResolvedConfig {
  if (typeof config !== "object" || config === null) throw invalid("a Harness needs a configuration: { apiKey, … }.");
  refuseUnknown("the configuration", config, KNOWN);
  if (config.price) refuseUnknown("price", config.price, KNOWN_PRICES);
  const provider = readProvider(config.provider ?? DEFAULT_PROVIDER);
  const { systemPrompt = "" } = config;
  if (typeof systemPrompt !== "string") throw invalid("systemPrompt must be a string.");
  return {
    endpoint: readEndpoint(config, provider),
    wire: provider.wire,
    model: readModel(config.model, provider),
    maxTokens: readCount("maxTokens", config.maxTokens ?? DEFAULT_MAX_TOKENS),
    systemPrompt,
    untrustedResults: readResults(config.untrustedResults),
    maxTurns: readCount("maxTurns", config.maxTurns ?? DEFAULT_MAX_TURNS),
    retryWaitMs: readWait(config.retryWaitMs ?? 0),
    effort: readEffort(config.effort),
    contextTokens: config.contextTokens === undefined ? undefined : readCount("contextTokens", config.contextTokens),
    compactAt: readShare(config.compactAt ?? DEFAULT_COMPACT_AT),
    network: readNetwork(config),
    cassette: readCassette(config),
    costs: readCosts(config),
  };
}

function readProvider(name: string): NamedProvider {
  const provider = findProvider(name);
  if (provider !== undefined && takesKey(provider)) return provider;
  const known = NAMED_PROVIDERS.filter(takesKey)
    .map((candidate) => candidate.name)
    .join(", ");
  if (provider !== undefined)
    throw invalid(`${name} needs a sign-in, which the library does not support. Choose one of ${known}.`);
  throw invalid(`there is no provider ${JSON.stringify(name)}. There are ${known}.`);
}

/** Or needs none. */
function takesKey({ keyName, signIn }: NamedProvider): boolean {
  return keyName !== undefined || !signIn;
}

function readModel(model: string | undefined, provider: NamedProvider): string {
  const chosen = model ?? (provider.name === DEFAULT_PROVIDER ? DEFAULT_MODEL : defaultModelOf(provider));
  if (typeof chosen === "string" && chosen.trim() !== "") return chosen;
  throw invalid(`model is required for ${provider.name}: pass { model: "…" }.`);
}

function readResults(results: "wrap" | "plain" = "wrap"): "wrap" | "plain" {
  if (results === "wrap" || results === "plain") return results;
  throw invalid(`untrustedResults must be "wrap" or "plain", got ${JSON.stringify(results)}.`);
}

function readEffort(effort: Effort | undefined): Effort | undefined {
  if (effort === undefined || ["low", "medium", "high"].includes(effort)) return effort;
  throw invalid(`effort must be "low", "medium" or "high", got ${JSON.stringify(effort)}.`);
}

function readCosts({ budget, budgetTurn, price, replay }: HarnessConfig): CostOptions | undefined {
  if (budget === undefined && budgetTurn === undefined && price === undefined) return undefined;
  // A replay costs nothing.
  const paid = replay === undefined ? price : { input: 0, output: 0 };
  return {
    budget: readBudget("budget", budget),
    budgetTurn: readBudget("budgetTurn", budgetTurn),
    price: paid === undefined ? undefined : readPrice(paid),
  };
}

function readBudget(name: string, amount: string | undefined): BudgetLimit | undefined {
  if (amount === undefined) return undefined;
  const limit = typeof amount === "string" ? parseBudget(amount) : undefined;
  if (limit !== undefined) return limit;
  throw invalid(`${name} must be an amount like "0.50" (US dollars) or "200k tokens", got ${JSON.stringify(amount)}.`);
}

function readPrice({ input, output, cache_read, cache_write }: HarnessPrice): Price {
  const given = {
    input,
    output,
    ...(cache_read !== undefined && { cache_read }),
    ...(cache_write !== undefined && { cache_write }),
  };
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) continue;
    throw invalid(`price.${name} must be US dollars per million tokens, got ${JSON.stringify(value)}.`);
  }
  return given;
}

function readNetwork({ proxy, noProxy, caFile }: HarnessConfig): NetworkPlan | undefined {
  for (const [name, value] of Object.entries({ proxy, noProxy, caFile })) {
    if (value !== undefined && typeof value !== "string") throw invalid(`${name} must be a string.`);
  }
  const given = proxy ? { value: proxy, origin: "proxy" } : undefined;
  const authorities = caFile ? [{ value: caFile, origin: "caFile" }] : [];
  if (given === undefined && authorities.length === 0) return undefined;
  return { httpProxy: given, httpsProxy: given, noProxy, authorities };
}

function readCassette({ record, replay }: HarnessConfig): ResolvedConfig["cassette"] {
  for (const file of [record, replay]) {
    if (file !== undefined && (typeof file !== "string" || file === "")) {
      throw invalid("record and replay must be file names.");
    }
  }
  if (record !== undefined && replay !== undefined) throw invalid("give record or replay, not both.");
  return record !== undefined ? { record } : replay !== undefined ? { replay } : undefined;
}

function readEndpoint({ apiKey, baseUrl, replay }: HarnessConfig, provider: NamedProvider): Endpoint {
  const needsKey = provider.keyName !== undefined && provider.local !== true && replay === undefined;
  if (needsKey && (typeof apiKey !== "string" || apiKey.trim() === "")) {
    throw invalid(
      `apiKey is required: pass { apiKey: "…" } with a key for ${provider.name}. The library reads no environment variables.`,
    );
  }
  const endpoint = endpointOf(provider, {
    ...(provider.keyName !== undefined && { [provider.keyName]: apiKey }),
    ...(provider.baseUrlName !== undefined && { [provider.baseUrlName]: baseUrl }),
  });
  if (!/^https?:/.test(endpoint.baseUrl) || !URL.canParse(endpoint.baseUrl)) {
    throw invalid(`baseUrl must be an http or https address, got ${JSON.stringify(baseUrl)}.`);
  }
  return needsKey ? { ...endpoint, keyName: "apiKey" } : endpoint;
}

function readWait(value: number): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw invalid(`retryWaitMs must be a number of milliseconds from 0, got ${String(value)}.`);
}

function readShare(value: number | false): number | undefined {
  if (value === false) return undefined;
  if (value >= 0.1 && value <= 0.95) return value;
  throw invalid(`compactAt must be a part of the window from 0.1 to 0.95, or false, got ${String(value)}.`);
}

function readCount(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw invalid(`${name} must be a whole number above 0, got ${String(value)}.`);
}
