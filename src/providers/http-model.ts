/**
 * A model behind HTTP: a wire, an endpoint and a client joined.
 *
 * 1. Problems are `failure` events; only a fault in this code is thrown. A cancelled stream just ends.
 * 2. Each network read gives one batch of events, with adjacent text joined.
 * 3. The key is in the request's headers and nowhere else: not in a failure, not in a trace.
 */
import type { Model, ModelEvent, ModelRequest, ModelStream, RequestContext } from "../engine/ports.js";
import { hasAudio, hasImages } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";
import { isJsonObject, type JsonObject } from "../protocol/json.js";
import type { HttpClient, HttpResponse, HttpTimeouts } from "../system/http-client.js";
import { HttpError, HttpFailure } from "../system/http-error.js";
import { type Authorise, authorised } from "./authorisation.js";
import { createTracer, type Tracer } from "./trace.js";
import { malformed, responseFailure, streamFailure, textOf, tooLong, unreached } from "./wire/failures.js";
import { parseJson } from "./wire/fields.js";
import { createFrameDecoder, MOST_BODY_BYTES } from "./wire/framing.js";
import { reportsCost } from "./wire/reported-cost.js";
import { shownUrl } from "./wire/url.js";
import { assertCanonicalForm, type Dialect, type Frame, type Wire, type WireContext } from "./wire/wire.js";

export interface Endpoint {
  /** The provider's name. */
  readonly provider: string;
  readonly family: string;
  readonly baseUrl: string;
  readonly key?: string;
  /** The variable that holds the key, for the message when the provider refuses it. */
  readonly keyName?: string;
  /** Returns the key or token, if it is not known in advance. */
  readonly authorise?: Authorise;
  /** Requests go through this client instead of the usual one. */
  readonly http?: HttpClient;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that depend on the request. */
  readonly headersOf?: (request: ModelRequest) => Readonly<Record<string, string>>;
  readonly dialect?: Dialect;
  /** On this machine or near it: answers have no time limit. */
  readonly local: boolean;
  /** The longest answer, when the request names none. */
  readonly maxOutputTokens?: number;
  /** Replaces the default timeouts. */
  readonly timeouts?: HttpTimeouts;
  /** Added unchanged to every request's body. */
  readonly extra?: JsonObject;
}

export interface HttpModelOptions<State> {
  readonly wire: Wire<State>;
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly http: HttpClient;
  /** The most the model can read and write together, where that is known. */
  readonly maxContextTokens?: number;
  /** Tells whether the catalogue says that the model takes audio; undefined if it does not know. */
  readonly hears?: () => Promise<boolean | undefined>;
  /** The state folder, for a list of prices that is kept. */
  readonly state?: string | undefined;
}

const CONNECT_MS = 10_000;
/** Reasoning models can be silent for minutes. */
const CLOUD_IDLE_MS = 300_000;
const ERROR_BODY_BYTES = 64 * 1024;

/** Protocols that can count the tokens of a request (tokens/count.ts). */
const COUNTING_WIRES: ReadonlySet<string> = new Set(["anthropic", "gemini"]);

/** The family whose own service searches the web, by protocol. Other servers that speak it mostly cannot. */
const SEARCHES: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  "openai-responses": "openai",
  "openai-chat": "openai",
  gemini: "gemini",
};

export function usualTimeouts(endpoint: Pick<Endpoint, "local">): HttpTimeouts {
  return endpoint.local ? { connectMs: CONNECT_MS } : { connectMs: CONNECT_MS, idleMs: CLOUD_IDLE_MS };
}

export function createHttpModel<State>(options: HttpModelOptions<State>): Model {
  const { endpoint, model, wire, maxContextTokens } = options;
  assertCanonicalForm(wire);
  return {
    provider: endpoint.provider,
    family: endpoint.family,
    model,
    ...(maxContextTokens !== undefined && { contextTokens: maxContextTokens }),
    ...(endpoint.maxOutputTokens !== undefined && { outputTokens: endpoint.maxOutputTokens }),
    ...(SEARCHES[wire.name] === endpoint.family && { searchesWeb: true as const }),
    ...(wire.name === "anthropic" && endpoint.maxOutputTokens === undefined && { needsOutputLimit: true as const }),
    stream: (request, context) =>
      request.webSearch === true && wire.name === "openai-chat"
        ? searchByResponses(options, request, context)
        : stream(options, request, context),
    ...(reportsCost({ family: endpoint.family, url: endpoint.baseUrl }) && {
      ownPrice: async () => (await import("./listed-price.js")).listedPrice(options),
    }),
    ...(COUNTING_WIRES.has(wire.name) && {
      countTokens: async (request: ModelRequest, { signal }: RequestContext) =>
        (await import("./tokens/count.js")).countTokens({ ...request, model }, { ...options, signal }),
    }),
  };
}

/** OpenAI searches the web by its newer protocol only. */
async function* searchByResponses<State>(
  options: HttpModelOptions<State>,
  request: ModelRequest,
  context: RequestContext,
): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
  const { openaiResponses } = await import("./wire/openai-responses.js");
  yield* stream({ ...options, wire: openaiResponses }, request, context);
}

async function* stream<State>(
  options: HttpModelOptions<State>,
  request: ModelRequest,
  { signal, trace }: Pick<RequestContext, "signal" | "trace">,
): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
  const { wire } = options;
  const ready = await prepare(options, request, signal);
  if ("failure" in ready) {
    if (!signal.aborted) yield [{ type: "failure", failure: ready.failure }];
    return;
  }
  const { endpoint } = ready;
  const http = endpoint.http ?? options.http;
  const encoded = wire.encode(ready.request, target(options, endpoint));
  const key = endpoint.key?.trim() ?? "";
  const context: WireContext = {
    provider: endpoint.provider,
    family: endpoint.family,
    model: options.model,
    url: shownUrl(encoded.url),
    tools: request.tools,
    ...(endpoint.keyName !== undefined && { keyName: endpoint.keyName }),
  };
  const headers = {
    "content-type": "application/json",
    accept: wire.framing === "sse" ? "text/event-stream" : "application/x-ndjson",
    ...encoded.headers,
    ...endpoint.headers,
    ...endpoint.headersOf?.(request),
    ...(key !== "" && wire.authorize(key)),
  };
  const body = JSON.stringify(encoded.body);
  const tracer = createTracer(trace, key);
  tracer.request({ method: "POST", url: context.url, headers, body });
  const conceal = (failure: Failure): ModelEvent => ({ type: "failure", failure: withoutKey(failure, key) });
  const timeouts = endpoint.timeouts ?? usualTimeouts(endpoint);
  let response: HttpResponse | undefined;
  try {
    response = await http.request({ method: "POST", url: encoded.url, headers, body, signal, timeouts });
    tracer.response(response);
    const problem = await refusal(response, { context, tracer });
    if (problem === undefined) yield* read(response, wire, { context, tracer, conceal });
    else if (!signal.aborted) yield [conceal(problem)];
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    tracer.failed(error);
    if (error.kind !== "aborted" && !signal.aborted) yield [conceal(unreachable(error, context, endpoint))];
  } finally {
    tracer.end();
    response?.destroy();
  }
}

/** The request in a form that this model accepts, and the authorised endpoint. */
async function prepare<State>(
  options: HttpModelOptions<State>,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<{ readonly request: ModelRequest; readonly endpoint: Endpoint } | { readonly failure: Failure }> {
  const asked = ownRequest(options, request);
  // Few requests have images; the others do not load the module.
  const accepted = hasImages(asked.messages)
    ? await (await import("./images.js")).acceptImages(asked, { ...options, signal })
    : { request: asked };
  if ("failure" in accepted) return accepted;
  const heard = hasAudio(asked.messages) ? await withAudio(accepted.request, options) : accepted;
  if ("failure" in heard) return heard;
  const access = await authorised(options.endpoint, signal);
  return "failure" in access ? access : { ...heard, ...access };
}

async function withAudio<State>(request: ModelRequest, { wire, endpoint, hears }: HttpModelOptions<State>) {
  const { acceptAudio } = await import("./audio.js");
  return acceptAudio(request, { provider: endpoint.provider, wire: wire.name, hears: await hears?.() });
}

function ownRequest<State>({ model, endpoint }: HttpModelOptions<State>, request: ModelRequest): ModelRequest {
  const maxOutputTokens = request.maxOutputTokens ?? endpoint.maxOutputTokens;
  return { ...request, model, ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
}

export function target({ maxContextTokens }: Pick<HttpModelOptions<never>, "maxContextTokens">, endpoint: Endpoint) {
  return {
    baseUrl: endpoint.baseUrl,
    family: endpoint.family,
    ...(maxContextTokens !== undefined && { maxContextTokens }),
    ...(endpoint.extra !== undefined && { extra: endpoint.extra }),
    ...(endpoint.dialect !== undefined && { dialect: endpoint.dialect }),
  };
}

interface Reading {
  readonly context: WireContext;
  readonly tracer: Tracer;
  /** The event for a failure, without the key that a server may have repeated in it. */
  readonly conceal: (failure: Failure) => ModelEvent;
}

function withoutKey(problem: Failure, key: string): Failure {
  if (key.length < 8 || !problem.message.includes(key)) return problem;
  return { ...problem, message: problem.message.replaceAll(key, "[key]") };
}

/** The failure that an error response describes. */
async function refusal(
  response: HttpResponse,
  { context, tracer }: Pick<Reading, "context" | "tracer">,
): Promise<Failure | undefined> {
  const { status, headers } = response;
  const accepted = status >= 200 && status < 300;
  const packed = packing(headers["content-encoding"]);
  if (accepted && packed !== undefined) return malformed(packed, context);
  const isPage = headers["content-type"]?.includes("text/html") === true;
  if (accepted && !isPage) return undefined;
  const body = await response.text(ERROR_BODY_BYTES);
  tracer.text(body);
  return accepted
    ? notAStream(body, context)
    : responseFailure({ status, headers, body: packed ?? body }, context, { now: Date.now() });
}

/** Oxbow never asks for compression and cannot decompress; a proxy may compress anyway. */
function packing(encoding: string | undefined): string | undefined {
  if (encoding === undefined || encoding.trim().toLowerCase() === "identity") return undefined;
  return `a body compressed with ${encoding}, which Oxbow did not request (a proxy may have compressed it)`;
}

/** As text: the first bytes of gzip and zstd. */
const PACKED = /^(?:\u001f\ufffd|\(\ufffd\/\ufffd)/;

/** The failure for a successful response without a stream frame: a page, an error, or the answer of a server that does not stream. */
function notAStream(body: string, context: WireContext): Failure {
  if (PACKED.test(body)) return malformed(packing(body.startsWith("(") ? "zstd" : "gzip") ?? "", context);
  const value = parseJson(body);
  if (!isJsonObject(value)) return malformed(textOf(body), context);
  return value.error ? streamFailure(value, context) : malformed("JSON instead of a stream", context);
}

async function* read<State>(
  response: HttpResponse,
  wire: Wire<State>,
  { context, tracer, conceal }: Reading,
): AsyncGenerator<readonly ModelEvent[]> {
  const decoder = createFrameDecoder(wire.framing);
  let state = wire.initial(context);
  let framed = false;
  let opening = "";
  let received = 0;
  const take = (frames: readonly Frame[]): { events: ModelEvent[]; done: boolean } => {
    const events: ModelEvent[] = [];
    for (const frame of frames) {
      framed = true;
      const step = wire.step(state, frame);
      state = step.state;
      for (const event of step.events) add(events, event.type === "failure" ? conceal(event.failure) : event);
      if (step.done) return { events, done: true };
    }
    return { events, done: false };
  };
  let broken: HttpError | undefined;
  try {
    for await (const bytes of response.body) {
      tracer.bytes(bytes);
      received += bytes.length;
      if (received > MOST_BODY_BYTES) throw new HttpFailure(tooLong(context));
      if (!framed && opening.length < ERROR_BODY_BYTES) opening += Buffer.from(bytes).toString("utf8");
      const { events, done } = take(decoder.push(bytes));
      if (done) response.release();
      if (events.length > 0) yield events;
      if (done) return;
    }
  } catch (error) {
    if (!(error instanceof HttpError) || error.kind === "aborted") throw error;
    tracer.failed(error);
    broken = error;
  }
  const rest = take(broken === undefined ? decoder.end() : []);
  if (rest.done) yield rest.events;
  else if (!framed && broken === undefined && isForeign(opening)) yield [conceal(notAStream(opening, context))];
  else yield [...rest.events, ...ending(wire.end(state), broken, context)];
}

/** Text that arrived together is one piece: consumers are called once instead of once per token. */
function add(events: ModelEvent[], event: ModelEvent): void {
  const last = events.at(-1);
  if ((event.type === "text" || event.type === "thinking") && last?.type === event.type) {
    events[events.length - 1] = { type: event.type, text: last.text + event.text };
  } else events.push(event);
}

/** Tells whether this cannot be the beginning of an event stream. */
function isForeign(opening: string): boolean {
  return opening.trim() !== "" && !/^(:|(data|event|id|retry):)/m.test(opening);
}

/** An answer that contains its end is complete, even if the connection breaks after it. */
function ending(
  events: readonly ModelEvent[],
  broken: HttpError | undefined,
  context: WireContext,
): readonly ModelEvent[] {
  if (broken instanceof HttpFailure) return [{ type: "failure", failure: broken.failure }];
  if (broken?.kind !== "timeout") return events;
  const silent = failure("ProviderFailed", { name: context.provider, detail: broken.message }, { retryable: true });
  return events.map((event) => (event.type === "failure" ? { ...event, failure: silent } : event));
}

function unreachable(error: HttpError, context: WireContext, { local }: Pick<Endpoint, "local">): Failure {
  if (error instanceof HttpFailure) return error.failure;
  const detail = error.kind === "dropped" ? "the connection was closed before it answered" : error.message;
  // Without a name server entry or a certificate, waiting does not help.
  const lasting = error.code !== undefined && /^(ENOTFOUND|EPROTO|ERR_|CERT|DEPTH|SELF|UNABLE)/.test(error.code);
  // On this machine, a refused connection means that no server runs there.
  const absent = local && error.code === "ECONNREFUSED";
  const { provider, url } = context;
  return unreached({ provider, url, detail, code: error.code }, { retryable: !lasting && !absent });
}
