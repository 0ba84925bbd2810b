/** Decides which wire a request belongs to. */
import { anthropic } from "./wires/anthropic.js";
import { gemini } from "./wires/gemini.js";
import { ollama } from "./wires/ollama.js";
import { openai } from "./wires/openai.js";
import { responses } from "./wires/responses.js";
import type { HttpAnswer, Incoming, Wire } from "./wires/wire.js";

export interface Route {
  readonly wire: Wire;
  /** A call goes to the model, a lookup to the service. */
  readonly kind: "call" | "lookup";
}

const ROUTES: Readonly<Record<string, Route>> = {
  "POST /v1/messages": { wire: anthropic, kind: "call" },
  "POST /v1/messages/count_tokens": { wire: anthropic, kind: "lookup" },
  "POST /v1/chat/completions": { wire: openai, kind: "call" },
  "POST /chat/completions": { wire: openai, kind: "call" },
  "POST /v1/responses": { wire: responses, kind: "call" },
  "POST /responses": { wire: responses, kind: "call" },
  "POST /api/chat": { wire: ollama, kind: "call" },
  "POST /api/show": { wire: ollama, kind: "lookup" },
  "POST /api/pull": { wire: ollama, kind: "lookup" },
  "GET /api/ps": { wire: ollama, kind: "lookup" },
  "GET /api/tags": { wire: ollama, kind: "lookup" },
  "GET /api/version": { wire: ollama, kind: "lookup" },
  "HEAD /api/version": { wire: ollama, kind: "lookup" },
  "GET /": { wire: ollama, kind: "lookup" },
  "HEAD /": { wire: ollama, kind: "lookup" },
};

export function route({ method, path, headers }: Incoming): Route | undefined {
  const plain = path.split("?")[0] as string;
  // Two services list their models under the same path; only Anthropic's clients send a version.
  if (method === "GET" && /^(\/v1)?\/models(\/|$)/.test(plain)) {
    return { wire: headers["anthropic-version"] === undefined ? openai : anthropic, kind: "lookup" };
  }
  if (/^\/v1(alpha|beta)\/models(\/|$)/.test(plain)) {
    const asks = method === "POST" && /:(stream)?generateContent$/i.test(plain);
    return { wire: gemini, kind: asks ? "call" : "lookup" };
  }
  const key = `${method} ${plain}`;
  return Object.hasOwn(ROUTES, key) ? ROUTES[key] : undefined;
}

/** In the words of the service that the client probably wants. */
export function notFound({ method, path, headers }: Incoming): HttpAnswer {
  if (path.startsWith("/api/")) {
    return { status: 404, headers: { "content-type": "text/plain" }, body: "404 page not found" };
  }
  if (/^\/v1(alpha|beta)\//.test(path)) {
    return {
      status: 404,
      headers: { "content-type": "text/html; charset=UTF-8" },
      body: "<title>Error 404 (Not Found)!!1</title>",
    };
  }
  if (headers["anthropic-version"] !== undefined) {
    const error = { type: "not_found_error", message: "Not Found" };
    return { status: 404, headers: {}, body: { type: "error", error } };
  }
  const message = `Invalid URL (${method} ${path})`;
  return {
    status: 404,
    headers: {},
    body: { error: { message, type: "invalid_request_error", param: null, code: null } },
  };
}
