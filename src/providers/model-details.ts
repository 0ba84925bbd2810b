/** Describes what local servers report about their models: the context window, and whether they call tools. */
import { authorised } from "./authorisation.js";
import type { Endpoint } from "./http-model.js";
import { getJson, type JsonQuery, type ListedModel, type ListOptions } from "./model-list.js";
import { showOllamaModel } from "./ollama/api.js";
import { asList, asNumber, asObject, asText } from "./wire/fields.js";
import { unversionedUrl } from "./wire/url.js";

/** More than users have installed; each needs its own request. */
const MOST_SHOWN = 64;

/** The same models in the same order, with the details that the server reports. Never throws. */
export async function withDetails(
  kind: string,
  where: Endpoint,
  { models, ...options }: ListOptions & { readonly models: readonly ListedModel[] },
): Promise<readonly ListedModel[]> {
  const access = await authorised(where, options.signal);
  if ("failure" in access) return models;
  const { endpoint } = access;
  const headers: Record<string, string> = endpoint.key === undefined ? {} : { authorization: `Bearer ${endpoint.key}` };
  const query: JsonQuery = { ...options, endpoint, headers: { ...endpoint.headers, ...headers } };
  switch (kind) {
    case "ollama":
      return Promise.all(
        models.map((model, index) => (index < MOST_SHOWN ? ofOllama(model, { endpoint, options }) : model)),
      );
    case "llamacpp":
    case "llamafile":
      return ofLlamaCpp(models, { endpoint, query });
    case "lmstudio":
      return ofLmStudio(models, { endpoint, query });
    default:
      return models;
  }
}

async function ofOllama(
  model: ListedModel,
  { endpoint, options }: { readonly endpoint: Endpoint; readonly options: ListOptions },
): Promise<ListedModel> {
  const answer = await showOllamaModel(endpoint.baseUrl, model.id, options);
  if (!answer.ok) return model;
  const { capabilities, maxContextTokens } = answer.details;
  return {
    ...model,
    ...(maxContextTokens !== undefined && { maxContextTokens }),
    // Older servers say nothing about abilities.
    ...(capabilities.length > 0 && { tools: capabilities.includes("tools") }),
  };
}

interface Question {
  readonly endpoint: Endpoint;
  readonly query: JsonQuery;
}

/** The context that the server was started with, not the one that the model was trained for. */
async function ofLlamaCpp(models: readonly ListedModel[], { endpoint, query }: Question) {
  const answer = await getJson(unversionedUrl(endpoint.baseUrl, "/props"), query);
  const context = answer.ok ? asNumber(asObject(answer.value.default_generation_settings).n_ctx) : undefined;
  return models.map((model) => ({ ...model, ...(context !== undefined && { maxContextTokens: context }) }));
}

/** Uses the newer of LM Studio's two APIs, else the older one. */
async function ofLmStudio(models: readonly ListedModel[], { endpoint, query }: Question) {
  for (const path of ["/api/v1/models", "/api/v0/models"]) {
    const answer = await getJson(unversionedUrl(endpoint.baseUrl, path), query);
    if (!answer.ok) continue;
    const items = asList(answer.value.models ?? answer.value.data).map(asObject);
    return models.flatMap((model) => {
      const item = items.find((candidate) => [candidate.key, candidate.id].map(asText).includes(model.id));
      if (item === undefined) return [model];
      if (/^embeddings?$/.test(asText(item.type))) return [];
      const loaded = asObject(asObject(asList(item.loaded_instances)[0]).config).context_length;
      const context = asNumber(loaded) ?? asNumber(item.loaded_context_length) ?? asNumber(item.max_context_length);
      const tools = Array.isArray(item.capabilities)
        ? item.capabilities.includes("tool_use")
        : asObject(item.capabilities).trained_for_tool_use;
      return [
        {
          ...model,
          ...(context !== undefined && { maxContextTokens: context }),
          ...(typeof tools === "boolean" && { tools }),
        },
      ];
    });
  }
  return models;
}
