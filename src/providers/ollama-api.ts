/** What Ollama tells of its models besides running them (features M5, M20). */

import type { Failure } from "../protocol/errors.js";
import type { HttpClient } from "../system/http-client.js";
import { getJson, type ListOptions, listModels, type ModelListing } from "./model-list.js";
import { asList, asNumber, asObject, asText } from "./wire/fields.js";
import { unversionedUrl } from "./wire/url.js";

/** A server that is there answers at once. */
const PROBE_MS = 1500;

export interface OllamaModelDetails {
  readonly maxContextTokens?: number;
  /** `completion`, `tools`, `thinking`, `vision` … */
  readonly capabilities: readonly string[];
}

export type OllamaModelAnswer =
  | { readonly ok: true; readonly details: OllamaModelDetails }
  | { readonly ok: false; readonly failure: Failure };

export interface OllamaOptions {
  readonly http: HttpClient;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** The installed models, newest use first as Ollama gives them. */
export function listOllamaModels(baseUrl: string, options: OllamaOptions): Promise<ModelListing> {
  return listModels("ollama", endpoint(baseUrl), withDefault(options));
}

export async function showOllamaModel(
  baseUrl: string,
  model: string,
  options: OllamaOptions,
): Promise<OllamaModelAnswer> {
  const answer = await getJson(unversionedUrl(baseUrl, "/api/show"), {
    ...withDefault(options),
    endpoint: endpoint(baseUrl),
    headers: {},
    body: { model },
    model,
  });
  if (!answer.ok) return answer;
  const info = asObject(answer.value.model_info);
  // The key carries the model's architecture: `llama.context_length`.
  const context = asNumber(info[Object.keys(info).find((key) => key.endsWith(".context_length")) ?? ""]);
  const capabilities = asList(answer.value.capabilities).map(asText);
  return { ok: true, details: { capabilities, ...(context !== undefined && { maxContextTokens: context }) } };
}

function endpoint(baseUrl: string) {
  return { provider: "ollama", family: "ollama", baseUrl, local: true } as const;
}

function withDefault(options: OllamaOptions): ListOptions {
  return { timeoutMs: PROBE_MS, ...options };
}
