/** Asks Ollama about its models. Every request is small and fast. */
import type { Failure } from "../../protocol/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import type { HttpClient } from "../../system/http-client.js";
import { getJson, type JsonAnswer, type ListOptions, listModels, type ModelListing } from "../model-list.js";
import { asList, asNumber, asObject, asText } from "../wire/fields.js";
import { unversionedUrl } from "../wire/url.js";
import { type CacheShape, readCacheShape } from "./memory.js";

/** A running server answers at once. */
const PROBE_MS = 1500;

export interface OllamaModelDetails {
  readonly maxContextTokens?: number;
  /** `completion`, `tools`, `thinking`, `vision` … */
  readonly capabilities: readonly string[];
  /** The size of its cache per token, if the model reports it. */
  readonly cache?: CacheShape;
}

export interface InstalledModel {
  readonly name: string;
  readonly digest: string;
  readonly bytes: number;
  /** In Ollama's notation: `8.0B`, `Q4_K_M`. */
  readonly parameters: string;
  readonly quantization: string;
  readonly modifiedAt: string;
}

export interface RunningModel {
  readonly name: string;
  readonly bytes: number;
  /** The part of it that is in the memory of a GPU. */
  readonly gpuBytes: number;
  /** Absent if the server does not report it. */
  readonly contextTokens?: number;
  readonly expiresAt: string;
}

export type Asked<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly failure: Failure };

export type OllamaModelAnswer = Asked<{ readonly details: OllamaModelDetails }>;

export interface OllamaOptions {
  readonly http: HttpClient;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** The installed models in Ollama's order: the most recently used first. */
export function listOllamaModels(baseUrl: string, options: OllamaOptions): Promise<ModelListing> {
  return listModels("ollama", endpoint(baseUrl), withDefault(options));
}

export async function ollamaVersion(
  baseUrl: string,
  options: OllamaOptions,
): Promise<Asked<{ readonly version: string }>> {
  const answer = await ask(baseUrl, "/api/version", options);
  return answer.ok ? { ok: true, version: asText(answer.value.version) } : answer;
}

export async function installedModels(
  baseUrl: string,
  options: OllamaOptions,
): Promise<Asked<{ readonly models: readonly InstalledModel[] }>> {
  const answer = await ask(baseUrl, "/api/tags", options);
  if (!answer.ok) return answer;
  const models = asList(answer.value.models).map((item) => readInstalled(asObject(item)));
  return { ok: true, models: models.filter((model) => model.name !== "") };
}

export async function runningModels(
  baseUrl: string,
  options: OllamaOptions,
): Promise<Asked<{ readonly models: readonly RunningModel[] }>> {
  const answer = await ask(baseUrl, "/api/ps", options);
  if (!answer.ok) return answer;
  const models = asList(answer.value.models).map((item) => readRunning(asObject(item)));
  return { ok: true, models: models.filter((model) => model.name !== "") };
}

export async function showOllamaModel(
  baseUrl: string,
  model: string,
  options: OllamaOptions,
): Promise<OllamaModelAnswer> {
  const answer = await ask(baseUrl, "/api/show", { ...options, body: { model } });
  if (!answer.ok) return answer;
  const info = asObject(answer.value.model_info);
  // The key carries the model's architecture: `llama.context_length`.
  const context = asNumber(info[Object.keys(info).find((key) => key.endsWith(".context_length")) ?? ""]);
  const cache = readCacheShape(info);
  return {
    ok: true,
    details: {
      capabilities: asList(answer.value.capabilities).map(asText),
      ...(context !== undefined && { maxContextTokens: context }),
      ...(cache !== undefined && { cache }),
    },
  };
}

/** Ollama's names with and without their default tag mean the same. */
export function isSameModel(one: string, other: string): boolean {
  return withTag(one) === withTag(other);
}

function withTag(name: string): string {
  const last = name.slice(name.lastIndexOf("/") + 1);
  return last.includes(":") ? name : `${name}:latest`;
}

function readInstalled(item: JsonObject): InstalledModel {
  const details = asObject(item.details);
  return {
    name: asText(item.name) || asText(item.model),
    digest: asText(item.digest),
    bytes: asNumber(item.size) ?? 0,
    parameters: asText(details.parameter_size),
    quantization: asText(details.quantization_level),
    modifiedAt: asText(item.modified_at),
  };
}

function readRunning(item: JsonObject): RunningModel {
  const context = asNumber(item.context_length);
  return {
    name: asText(item.name) || asText(item.model),
    bytes: asNumber(item.size) ?? 0,
    gpuBytes: asNumber(item.size_vram) ?? 0,
    expiresAt: asText(item.expires_at),
    ...(context !== undefined && context > 0 && { contextTokens: context }),
  };
}

function ask(
  baseUrl: string,
  path: string,
  { body, ...options }: OllamaOptions & { readonly body?: JsonObject },
): Promise<JsonAnswer> {
  return getJson(unversionedUrl(baseUrl, path), {
    ...withDefault(options),
    endpoint: endpoint(baseUrl),
    headers: {},
    ...(body !== undefined && { body, model: asText(body.model) }),
  });
}

function endpoint(baseUrl: string) {
  return { provider: "ollama", family: "ollama", baseUrl, local: true } as const;
}

function withDefault(options: OllamaOptions): ListOptions {
  return { timeoutMs: PROBE_MS, ...options };
}
