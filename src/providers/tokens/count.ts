/** Asks a provider how many tokens a request is: Anthropic's `count_tokens`, Gemini's `countTokens`. */
import type { ModelRequest } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";
import type { HttpClient } from "../../system/http-client.js";
import { authorised } from "../authorisation.js";
import { type Endpoint, target } from "../http-model.js";
import { getJson } from "../model-list.js";
import { asNumber } from "../wire/fields.js";
import type { Wire, WireRequest } from "../wire/wire.js";

export interface CountOptions {
  readonly wire: Pick<Wire<never>, "name" | "encode" | "authorize">;
  readonly endpoint: Endpoint;
  readonly maxContextTokens?: number;
  readonly http: HttpClient;
  readonly signal: AbortSignal;
}

/** An answer that takes longer is not worth waiting for. */
const TIMEOUT_MS = 5000;

/** Undefined if the provider does not answer; the caller then uses an estimate. */
export async function countTokens(request: ModelRequest, options: CountOptions): Promise<number | undefined> {
  const { wire, http, signal } = options;
  const question = QUESTIONS[wire.name];
  const access = await authorised(options.endpoint, signal);
  if (question === undefined || "failure" in access) return undefined;
  const { endpoint } = access;
  const encoded = wire.encode(request, target(options, endpoint));
  const answer = await getJson(question.url(encoded.url), {
    http,
    signal,
    endpoint,
    headers: { ...encoded.headers, ...endpoint.headers, ...(endpoint.key && wire.authorize(endpoint.key)) },
    body: question.body(encoded.body, request.model),
    model: request.model,
    timeoutMs: TIMEOUT_MS,
  });
  return answer.ok ? asNumber(answer.value[question.field]) : undefined;
}

interface Question {
  readonly url: (address: string) => string;
  readonly body: (body: WireRequest["body"], model: string) => JsonObject;
  readonly field: string;
}

const QUESTIONS: Readonly<Record<string, Question>> = {
  anthropic: {
    url: (address) => atPath(address, (path) => `${path}/count_tokens`),
    // Anything else in the body is refused.
    body: ({ model, messages, system, tools, tool_choice, thinking }) => ({
      model,
      messages,
      ...(system !== undefined && { system }),
      ...(tools !== undefined && { tools }),
      ...(tool_choice !== undefined && { tool_choice }),
      ...(thinking !== undefined && { thinking }),
    }),
    field: "input_tokens",
  },
  gemini: {
    url: (address) => atPath(address, (path) => path.replace(/:streamGenerateContent$/, ":countTokens")),
    body: (body, model) => ({
      generateContentRequest: { model: model.includes("/") ? model : `models/${model}`, ...body },
    }),
    field: "totalTokens",
  },
};

function atPath(address: string, change: (path: string) => string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.pathname = change(url.pathname);
  url.searchParams.delete("alt");
  return url.href;
}
