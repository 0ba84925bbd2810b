/**
 * An embedding model behind HTTP.
 *
 * 1. The texts go to the endpoint that the user chose and to no other: there is no second provider to try.
 * 2. A request that fails for a moment is repeated a few times; one that the server refuses is not.
 * 3. As many vectors come back as texts went out, all of the same length, or it is an error.
 */
import type { Clock } from "../../base/clock.js";
import type { Embedder } from "../../base/embedder.js";
import { type Failure, failure, gaveUp } from "../../protocol/errors.js";
import type { JsonValue } from "../../protocol/json.js";
import type { HttpClient, HttpResponse } from "../../system/http-client.js";
import { HttpError, HttpFailure } from "../../system/http-error.js";
import { authorised } from "../authorisation.js";
import type { Endpoint } from "../http-model.js";
import type { WireName } from "../named.js";
import { type FailureContext, malformed, responseFailure, unreached } from "../wire/failures.js";
import { parseJson } from "../wire/fields.js";
import { shownUrl } from "../wire/url.js";
import { type EmbeddingsApi, LLAMA_CPP, OLLAMA, OPENAI } from "./embeddings-api.js";

export interface EmbedderOptions {
  readonly wire: WireName;
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly http: HttpClient;
  readonly clock: Clock;
}

/** The message is for the user. */
class EmbeddingError extends Error {
  override readonly name = "EmbeddingError";
  readonly failure: Failure;

  constructor(cause: Failure) {
    super(cause.message);
    this.failure = cause;
  }
}

const APIS: Partial<Record<WireName, readonly EmbeddingsApi[]>> = {
  ollama: [OLLAMA],
  "openai-chat": [OPENAI, LLAMA_CPP],
  "openai-responses": [OPENAI],
};

const ANSWER_BYTES = 64 * 1024 * 1024;
const ERROR_BYTES = 64 * 1024;
const CONNECT_MS = 10_000;
/** A local model may have to be loaded first. */
const IDLE_MS = 300_000;
const PAUSES_MS = [500, 2000, 8000];
/** A server may ask for more than that. */
const LONGEST_PAUSE_MS = 60_000;
/** Servers limit how much one request may hold. */
const MOST_TEXTS = 64;
const MOST_CHARACTERS = 100_000;

/** Undefined if the provider's protocol has no embeddings. */
export function createEmbedder(options: EmbedderOptions): Embedder | undefined {
  const apis = APIS[options.wire];
  if (apis === undefined) return undefined;
  const asker = new Asker(options, apis);
  return {
    model: `${options.endpoint.provider}:${options.model.replace(/:latest$/, "")}`,
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (const portion of portions(texts)) vectors.push(...(await asker.ask(portion, signal)));
      return vectors;
    },
  };
}

function portions(texts: readonly string[]): readonly (readonly string[])[] {
  const out: string[][] = [];
  let characters = 0;
  for (const text of texts) {
    const last = out.at(-1);
    if (last === undefined || last.length >= MOST_TEXTS || characters + text.length > MOST_CHARACTERS) {
      out.push([text]);
      characters = text.length;
    } else {
      last.push(text);
      characters += text.length;
    }
  }
  return out;
}

class Asker {
  readonly #options: EmbedderOptions;
  /** Those that the server may know; one that it does not know is left out from then on. */
  #apis: readonly EmbeddingsApi[];

  constructor(options: EmbedderOptions, apis: readonly EmbeddingsApi[]) {
    this.#options = options;
    this.#apis = apis;
  }

  async ask(texts: readonly string[], signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    for (const pause of [...PAUSES_MS, undefined]) {
      const result = await this.#once(texts, signal);
      if ("vectors" in result) return result.vectors;
      signal?.throwIfAborted();
      if (result.failure.retryable !== true) throw new EmbeddingError(result.failure);
      if (pause === undefined) throw new EmbeddingError(this.#final(result.failure));
      await this.#pause(Math.max(pause, Math.min(result.failure.retry_after_ms ?? 0, LONGEST_PAUSE_MS)), signal);
    }
    return [];
  }

  /** A store has one model, so the message does not advise another. */
  #final(last: Failure): Failure {
    const final = gaveUp(last, { name: this.#options.endpoint.provider, attempts: PAUSES_MS.length + 1 });
    return { ...final, message: final.message.replace(/, or choose another model with --model/, "") };
  }

  /** Ends with the signal, too. */
  #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(signal?.reason);
      signal?.addEventListener("abort", fail, { once: true });
      this.#options.clock.after(ms, () => {
        signal?.removeEventListener("abort", fail);
        resolve();
      });
    });
  }

  async #once(texts: readonly string[], signal: AbortSignal | undefined) {
    for (;;) {
      const [api, ...others] = this.#apis;
      const result = await this.#request(api as EmbeddingsApi, texts, signal);
      const isUnknown = "status" in result && [404, 405, 501].includes(result.status) && others.length > 0;
      if (!isUnknown || !this.#options.endpoint.local) return result;
      this.#apis = others;
    }
  }

  async #request(api: EmbeddingsApi, texts: readonly string[], signal: AbortSignal | undefined) {
    const { model, http } = this.#options;
    const access = await authorised(this.#options.endpoint, signal);
    if ("failure" in access) return access;
    const { endpoint } = access;
    const url = api.url(endpoint.baseUrl, endpoint.dialect);
    const context: FailureContext = {
      provider: endpoint.provider,
      model,
      url: shownUrl(url),
      ...(endpoint.keyName !== undefined && { keyName: endpoint.keyName }),
    };
    try {
      const response = await (endpoint.http ?? http).request({
        method: "POST",
        url,
        headers: headersOf(endpoint),
        body: JSON.stringify(api.body(model, texts)),
        ...(signal !== undefined && { signal }),
        timeouts: { connectMs: CONNECT_MS, idleMs: IDLE_MS },
      });
      const { status, headers } = response;
      if (status < 200 || status >= 300) {
        const body = withoutKey(await response.text(ERROR_BYTES), endpoint.key);
        return { status, failure: responseFailure({ status, headers, body }, context) };
      }
      return readAnswer(parseJson(await wholeText(response)), { api, texts, context });
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      if (error instanceof HttpFailure) return { failure: error.failure };
      const about = { provider: endpoint.provider, url: context.url, detail: error.message, code: error.code };
      return { failure: unreached(about, { retryable: error.code !== "ECONNREFUSED" && error.code !== "ENOTFOUND" }) };
    }
  }
}

async function wholeText({ body }: HttpResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES) break;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** A server may repeat it in an error. */
function withoutKey(body: string, key = ""): string {
  return key.length < 8 ? body : body.replaceAll(key, "[key]");
}

function headersOf({ headers, key = "" }: Endpoint): Record<string, string> {
  return {
    accept: "application/json",
    "content-type": "application/json",
    ...headers,
    ...(key.trim() !== "" && { authorization: `Bearer ${key.trim()}` }),
  };
}

function readAnswer(
  answer: JsonValue | undefined,
  asked: { readonly api: EmbeddingsApi; readonly texts: readonly string[]; readonly context: FailureContext },
): { readonly vectors: readonly Float32Array[] } | { readonly failure: Failure } {
  const { api, texts, context } = asked;
  const lists = answer === undefined ? undefined : api.read(answer);
  if (lists === undefined) return { failure: malformed("an answer without embeddings", context) };
  const lengths = new Set(lists.map(({ length }) => length));
  if (lists.length !== texts.length || lengths.size !== 1) {
    const detail = `${lists.length} embeddings of ${[...lengths].join(" and ")} numbers for ${texts.length} texts`;
    return { failure: malformed(detail, context) };
  }
  return { vectors: lists.map((list) => unit(list)) };
}

function unit(list: readonly number[]): Float32Array {
  const length = Math.sqrt(list.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(list, (value) => (length > 0 ? value / length : 0));
}

/** Tells what to say of a provider that cannot make embeddings. */
export function noEmbeddings(provider: string): Failure {
  const detail = `${provider} has no embeddings that Oxbow can use. Choose a model of Ollama, llama.cpp or an OpenAI-compatible provider.`;
  return failure("NoModel", { detail });
}
