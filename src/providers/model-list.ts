/** The models a provider offers, for menus, `oxbow models` and the check of a name. */
import type { ModelPrice } from "../engine/ports.js";
import type { Failure } from "../protocol/errors.js";
import type { JsonObject } from "../protocol/json.js";
import { roundUsd } from "../protocol/usage.js";
import type { HttpClient } from "../system/http-client.js";
import { HttpError, HttpFailure } from "../system/http-error.js";
import { authorised } from "./authorisation.js";
import type { Endpoint } from "./http-model.js";
import type { WireName } from "./named.js";
import { ANTHROPIC_HEADERS } from "./wire/anthropic-request.js";
import { type FailureContext, malformed, responseFailure, unreached } from "./wire/failures.js";
import { asList, asNumber, asObject, asText, parseJson } from "./wire/fields.js";
import { compatibleUrl, geminiModelsUrl, shownUrl, unversionedUrl, versionedUrl } from "./wire/url.js";
import type { Dialect } from "./wire/wire.js";

export interface ListedModel {
  readonly id: string;
  /** A name for people, where it differs. */
  readonly label?: string;
  readonly maxContextTokens?: number;
  /** On disk, for local models. */
  readonly bytes?: number;
  /** US dollars per million tokens, if the provider or the catalogue lists them. */
  readonly price?: ModelPrice;
  /** Says whether it can call tools, if the server reports it. */
  readonly tools?: boolean;
  /** Says whether it reads images, and whether it thinks, if the catalogue lists it. */
  readonly images?: boolean;
  readonly thinking?: boolean;
  /** The server's name for itself, or the maker of the model. */
  readonly owner?: string;
}

export type ModelListing =
  | { readonly ok: true; readonly models: readonly ListedModel[] }
  | { readonly ok: false; readonly failure: Failure };

export interface ListOptions {
  readonly http: HttpClient;
  readonly signal?: AbortSignal;
  /** The limit for the connection and for each read. */
  readonly timeoutMs?: number;
}

const LIST_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Never throws. A cancelled listing is a failure like any other. */
export async function listModels(wire: WireName, where: Endpoint, options: ListOptions): Promise<ModelListing> {
  const { url, authorize, headers } = LISTS[wire];
  const access = await authorised(where, options.signal);
  if ("failure" in access) return { ok: false, failure: access.failure };
  const { endpoint } = access;
  const answer = await getJson(url(endpoint.baseUrl, endpoint.dialect), {
    ...options,
    endpoint,
    headers: { ...headers, ...endpoint.headers, ...(endpoint.key !== undefined && authorize(endpoint.key)) },
  });
  if (!answer.ok) return answer;
  const models = asList(answer.value.data ?? answer.value.models).map((item) => readModel(asObject(item)));
  return { ok: true, models: models.filter((model) => model.id !== "") };
}

interface ListApi {
  readonly url: (baseUrl: string, dialect?: Dialect) => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly authorize: (key: string) => Readonly<Record<string, string>>;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const LISTS: Readonly<Record<WireName, ListApi>> = {
  anthropic: {
    // One page holds them all.
    url: (baseUrl) => withQuery(versionedUrl(baseUrl, "/models"), "limit", "1000"),
    headers: ANTHROPIC_HEADERS,
    authorize: (key) => ({ "x-api-key": key }),
  },
  "openai-chat": {
    url: (baseUrl, dialect) => compatibleUrl(baseUrl, "/models", dialect),
    headers: {},
    authorize: bearer,
  },
  "openai-responses": {
    url: (baseUrl, { listQuery = [] } = {}) => withQuery(compatibleUrl(baseUrl, "/models"), ...listQuery),
    headers: {},
    authorize: bearer,
  },
  gemini: { url: geminiModelsUrl, headers: {}, authorize: (key) => ({ "x-goog-api-key": key }) },
  ollama: { url: (baseUrl) => unversionedUrl(baseUrl, "/api/tags"), headers: {}, authorize: bearer },
};

function withQuery(address: string, name?: string, value = ""): string {
  if (name === undefined || !URL.canParse(address)) return address;
  const url = new URL(address);
  url.searchParams.set(name, value);
  return url.href;
}

function readModel(item: JsonObject): ListedModel {
  // Google's names are paths.
  const id = asText(item.id) || asText(item.name).replace(/^models\//, "") || asText(item.model) || asText(item.slug);
  const label =
    asText(item.display_name) || asText(item.displayName) || (item.id === undefined ? "" : asText(item.name));
  const meta = asObject(item.meta);
  const limits = asObject(asObject(item.capabilities).limits);
  const context = [
    item.max_input_tokens,
    item.inputTokenLimit,
    item.context_length,
    item.context_window,
    item.max_context_length,
    item.max_model_len,
    limits.max_context_window_tokens,
    meta.n_ctx,
  ]
    .map(asNumber)
    .find((tokens) => tokens !== undefined && tokens > 0);
  const bytes = asNumber(item.size) ?? asNumber(meta.size);
  const tools = readTools(item);
  const price = readPrice(asObject(item.pricing));
  const owner = asText(item.owned_by);
  return {
    id,
    ...(label !== "" && label !== id && { label }),
    ...(context !== undefined && { maxContextTokens: context }),
    ...(bytes !== undefined && { bytes }),
    ...(tools !== undefined && { tools }),
    ...(price !== undefined && { price }),
    ...(owner !== "" && { owner }),
  };
}

/** OpenRouter gives dollars per token, as text. A negative price depends on the model that it chooses. */
function readPrice({ prompt, completion, input_cache_read, input_cache_write }: JsonObject): ModelPrice | undefined {
  const [input, output, read, write] = [prompt, completion, input_cache_read, input_cache_write].map((rate) => {
    const dollars = typeof rate === "string" && rate.trim() !== "" ? Number(rate) : Number.NaN;
    return dollars >= 0 ? roundUsd(dollars * 1e6) : undefined;
  });
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    ...(read !== undefined && { cache_read: read }),
    ...(write !== undefined && { cache_write: write }),
  };
}

/** Mistral, Copilot, Fireworks and OpenRouter each have their own field for it. */
function readTools(item: JsonObject): boolean | undefined {
  const { function_calling, supports } = asObject(item.capabilities);
  const declared = [function_calling, asObject(supports).tool_calls, item.supports_tools].find(
    (value) => typeof value === "boolean",
  );
  if (declared !== undefined) return declared;
  const parameters = asList(item.supported_parameters);
  return parameters.length === 0 ? undefined : parameters.includes("tools");
}

export interface JsonQuery extends ListOptions {
  readonly endpoint: Pick<Endpoint, "provider" | "keyName" | "http">;
  readonly headers: Readonly<Record<string, string>>;
  /** If present, the request is a POST with this body. */
  readonly body?: JsonObject;
  readonly model?: string;
}

export type JsonAnswer =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly failure: Failure };

/** Sends one small request to a provider. */
export async function getJson(url: string, query: JsonQuery): Promise<JsonAnswer> {
  const { signal, endpoint, headers, body, timeoutMs = TIMEOUT_MS } = query;
  const http = endpoint.http ?? query.http;
  const context: FailureContext = {
    provider: endpoint.provider,
    model: query.model ?? "",
    url: shownUrl(url),
    ...(endpoint.keyName !== undefined && { keyName: endpoint.keyName }),
  };
  try {
    const response = await http.request({
      method: body === undefined ? "GET" : "POST",
      url,
      headers: { accept: "application/json", "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
      timeouts: { connectMs: timeoutMs, idleMs: timeoutMs },
    });
    const text = await response.text(LIST_BYTES);
    const { status, headers: received } = response;
    if (status < 200 || status >= 300) {
      return { ok: false, failure: responseFailure({ status, headers: received, body: text }, context) };
    }
    const value = parseJson(text);
    if (value === undefined || Array.isArray(value) || typeof value !== "object" || value === null) {
      return { ok: false, failure: malformed("no JSON", context) };
    }
    return { ok: true, value: value as JsonObject };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error instanceof HttpFailure) return { ok: false, failure: error.failure };
    const about = { provider: endpoint.provider, url: context.url, detail: error.message, code: error.code };
    return { ok: false, failure: unreached(about, { retryable: true }) };
  }
}
