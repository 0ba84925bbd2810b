/** The requests for embeddings that servers understand, as data. */
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { asList, asNumber, asObject } from "../wire/fields.js";
import { compatibleUrl, unversionedUrl } from "../wire/url.js";
import type { Dialect } from "../wire/wire.js";

export interface EmbeddingsApi {
  url(baseUrl: string, dialect?: Dialect): string;
  body(model: string, texts: readonly string[]): JsonObject;
  /** One list of numbers for each text; undefined if the answer has another form. */
  read(answer: JsonValue): readonly (readonly number[])[] | undefined;
}

/** `/api/embed` of Ollama. A text that is too long is cut there. */
export const OLLAMA: EmbeddingsApi = {
  url: (baseUrl) => unversionedUrl(baseUrl, "/api/embed"),
  body: (model, input) => ({ model, input: [...input], truncate: true }),
  read: (answer) => lists(asObject(answer).embeddings),
};

/** `/v1/embeddings` of OpenAI and of the many servers that are compatible with it. */
export const OPENAI: EmbeddingsApi = {
  url: (baseUrl, dialect) => compatibleUrl(baseUrl, "/embeddings", dialect),
  body: (model, input) => ({ model, input: [...input], encoding_format: "float" }),
  read: (answer) => inOrder(asObject(answer).data),
};

/** `/embedding` of llama.cpp, also in older versions. */
export const LLAMA_CPP: EmbeddingsApi = {
  url: (baseUrl) => unversionedUrl(baseUrl, "/embedding"),
  body: (_model, texts) => ({ content: [...texts] }),
  read: (answer) => {
    const { results = answer } = asObject(answer);
    return inOrder(Array.isArray(results) ? results : [results]);
  },
};

/** Servers may answer in another order than they were asked. */
function inOrder(value: JsonValue | undefined): readonly (readonly number[])[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value.map((item, i) => ({ ...asObject(item), at: asNumber(asObject(item).index) ?? i }));
  const sorted = items.sort((one, other) => one.at - other.at);
  return lists(sorted.map((item) => firstRow((item as JsonObject).embedding ?? null)));
}

/** llama.cpp gives a row for each token where it does not join them; with pooling there is one. */
function firstRow(value: JsonValue): JsonValue {
  const [row] = asList(value);
  return Array.isArray(row) && asList(value).length === 1 ? row : value;
}

function lists(value: JsonValue | undefined): readonly (readonly number[])[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const isVector = (row: JsonValue): row is number[] =>
    Array.isArray(row) && row.length > 0 && row.every((each) => typeof each === "number" && Number.isFinite(each));
  return value.every(isVector) ? (value as number[][]) : undefined;
}
