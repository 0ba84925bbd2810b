/**
 * Downloads a model through Ollama. The server does the work: it resumes an interrupted download, and stops it when we close the
 * connection.
 */
import { type Failure, failure } from "../../protocol/errors.js";
import { isJsonObject } from "../../protocol/json.js";
import type { HttpClient } from "../../system/http-client.js";
import { HttpError } from "../../system/http-error.js";
import { oneLine, responseFailure, unreached } from "../wire/failures.js";
import { asNumber, asText, parseJson } from "../wire/fields.js";
import { createFrameDecoder } from "../wire/framing.js";
import { unversionedUrl } from "../wire/url.js";

export interface PullProgress {
  /** In Ollama's words: `pulling manifest`, `verifying sha256 digest`. */
  readonly status: string;
  /** The bytes of all parts known so far. */
  readonly completed: number;
  readonly total: number;
}

export interface PullOptions {
  readonly http: HttpClient;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PullProgress) => void;
}

const CONNECT_MS = 5000;

/** Undefined if the model is installed; a cancelled pull is a failure. */
export async function pullModel(
  baseUrl: string,
  model: string,
  { http, signal, onProgress }: PullOptions,
): Promise<Failure | undefined> {
  const url = unversionedUrl(baseUrl, "/api/pull");
  const context = { provider: "ollama", model, url };
  const layers = new Map<string, PullProgress>();
  const failed = (detail: string) => failure("ProviderFailed", { name: "ollama", detail: oneLine(detail) });
  try {
    const response = await http.request({
      method: "POST",
      url,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model }),
      signal,
      timeouts: { connectMs: CONNECT_MS },
    });
    if (response.status !== 200) {
      const { status, headers } = response;
      return responseFailure({ status, headers, body: await response.text(LIMIT_BYTES) }, context);
    }
    const decoder = createFrameDecoder("ndjson");
    for await (const bytes of response.body) {
      for (const { data } of decoder.push(bytes)) {
        const line = parseJson(data);
        if (!isJsonObject(line)) continue;
        const error = asText(line.error);
        if (error !== "") return failed(wordsFor(error, model));
        const status = asText(line.status);
        if (status === "success") return undefined;
        const digest = asText(line.digest);
        if (digest !== "") {
          layers.set(digest, { status, completed: asNumber(line.completed) ?? 0, total: asNumber(line.total) ?? 0 });
        }
        onProgress({ status: digest === "" ? status : "downloading", ...sum(layers.values()) });
      }
    }
    return failed("the server closed the connection before the download was complete. Pull again to resume it.");
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (signal.aborted) {
      return failure("InvalidInput", { detail: `The download of ${model} stopped. Pull again to resume it.` });
    }
    return unreached({ provider: "ollama", url, detail: error.message, code: error.code });
  }
}

const LIMIT_BYTES = 64 * 1024;

function sum(layers: Iterable<PullProgress>): { readonly completed: number; readonly total: number } {
  let completed = 0;
  let total = 0;
  for (const layer of layers) {
    completed += layer.completed;
    total += layer.total;
  }
  return { completed, total };
}

function wordsFor(error: string, model: string): string {
  if (!/file does not exist|not found/i.test(error)) return error;
  return `there is no model '${model}' to pull. https://ollama.com/search lists them.`;
}
