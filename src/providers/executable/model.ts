/**
 * A model behind a program: the request on its stdin, the answer on its stdout.
 *
 * 1. Problems are `failure` events; a cancelled stream just ends. Either way the program and everything it started have ended when
 *    the stream ends.
 * 2. An answer that contains its end is complete, whatever the program does after it. Otherwise the exit code decides.
 * 3. The program's stderr appears only in the failure.
 */
import type { Clock } from "../../base/clock.js";
import type { Model, ModelEvent, ModelRequest, ModelStream } from "../../engine/ports.js";
import { hasAudio } from "../../protocol/content.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import type { HttpClient, HttpResponse } from "../../system/http-client.js";
import { HttpError, HttpFailure } from "../../system/http-error.js";
import { executable } from "../wire/executable.js";
import { oneLine, streamFailure, tooLong } from "../wire/failures.js";
import { parseJson } from "../wire/fields.js";
import { createFrameDecoder, type FrameDecoder, MOST_BODY_BYTES } from "../wire/framing.js";
import { assertCanonicalForm, type Frame, type Wire, type WireContext } from "../wire/wire.js";
import { createOutputDecoder } from "./output.js";
import { type Program, programClient, TEMPORARY } from "./program-client.js";

export interface ExecutableModelOptions {
  /** The provider's name. */
  readonly provider: string;
  /** The program, as an absolute path. */
  readonly path: string;
  readonly model: string;
  readonly cwd: string;
  /** The program's whole environment; its keys are in it. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: the provider's name. */
  readonly family?: string;
  /** The program's protocol; default: Oxbow's own. With any other protocol, requests always ask for a stream. */
  readonly wire?: Wire<unknown>;
  /** "never" for a program that does not know `--stream`. */
  readonly streaming?: "auto" | "never";
  /** Says how long the program may be silent. */
  readonly idleMs?: number;
  /** The longest answer, when the request names none. */
  readonly maxOutputTokens?: number;
  /** The context window, if it reports one. */
  readonly maxContextTokens?: number;
  readonly extra?: JsonObject;
  readonly clock?: Clock;
  /** Puts a sandbox around each start. */
  readonly contain?: Program["contain"];
  /** Wraps or replaces the program: a cassette. */
  readonly around?: (program: HttpClient) => HttpClient;
}

const ERROR_CHARACTERS = 4096;

export function createExecutableModel(options: ExecutableModelOptions): Model {
  const { provider, family = provider, model, maxContextTokens, maxOutputTokens } = options;
  const { path, cwd, env, idleMs, clock, wire, streaming, contain, around = (client) => client } = options;
  const isOwn = wire === undefined || wire.name === executable.name;
  const program = programClient({
    argv: streaming === "never" && isOwn ? [path] : [path, "--stream"],
    cwd,
    env,
    ...(idleMs !== undefined && { idleMs }),
    ...(clock !== undefined && { clock }),
    ...(contain !== undefined && { contain }),
  });
  const client = around(program);
  return {
    provider,
    family,
    model,
    ...(maxContextTokens !== undefined && { contextTokens: maxContextTokens }),
    ...(maxOutputTokens !== undefined && { outputTokens: maxOutputTokens }),
    stream: (request, { signal }) => stream({ ...options, client }, request, signal),
  };
}

async function* stream(
  options: ExecutableModelOptions & { readonly client: HttpClient },
  request: ModelRequest,
  signal: AbortSignal,
): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
  if (signal.aborted) return;
  const { provider, path, model, family = provider, env, wire = executable as Wire<unknown> } = options;
  const context: WireContext = { provider, family, model, url: path, tools: request.tools };
  assertCanonicalForm(wire);
  const heard = hasAudio(request.messages) ? await withAudio(request, options) : { request };
  if ("failure" in heard) {
    yield [{ type: "failure", failure: heard.failure }];
    return;
  }
  const reading = new Reading(wire, context);
  let response: HttpResponse | undefined;
  try {
    const body = JSON.stringify(bodyOf({ ...options, family, wire }, heard.request));
    // Its environment contains the keys, like the headers of a request to a service.
    const headers = { ...env, accept: "application/x-ndjson" };
    response = await options.client.request({ method: "POST", url: `program:${provider}`, headers, body, signal });
    for await (const bytes of response.body) {
      const events = reading.take(bytes);
      if (events.length > 0) yield events;
      if (reading.done) return;
    }
    if (!signal.aborted) yield reading.end(undefined);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error.kind !== "aborted" && !signal.aborted) yield reading.end(problemOf(error, provider));
  } finally {
    response?.destroy();
  }
}

async function withAudio(request: ModelRequest, { provider, wire }: ExecutableModelOptions) {
  const { acceptAudio } = await import("../audio.js");
  return acceptAudio(request, { provider, ...(wire && { wire: wire.name }) });
}

function bodyOf(
  { model, path, family, wire, extra, maxOutputTokens: most }: ExecutableModelOptions & BodyForm,
  request: ModelRequest,
): JsonObject {
  const maxOutputTokens = request.maxOutputTokens ?? most;
  const own = { ...request, model, ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
  return wire.encode(own, { baseUrl: path, family, ...(extra !== undefined && { extra }) }).body;
}

interface BodyForm {
  readonly family: string;
  readonly wire: Wire<unknown>;
}

/** One answer, from its bytes to its events. */
class Reading {
  readonly #wire: Wire<unknown>;
  readonly #context: WireContext;
  readonly #decoder: FrameDecoder;
  #state: unknown;
  #framed = false;
  #opening = "";
  #received = 0;
  done = false;

  constructor(wire: Wire<unknown>, context: WireContext) {
    this.#wire = wire;
    this.#context = context;
    this.#decoder = wire.name === executable.name ? createOutputDecoder() : createFrameDecoder(wire.framing);
    this.#state = wire.initial(context);
  }

  take(bytes: Uint8Array): readonly ModelEvent[] {
    this.#received += bytes.length;
    if (this.#received > MOST_BODY_BYTES) {
      this.done = true;
      return [failed(tooLong(this.#context))];
    }
    if (!this.#framed && this.#opening.length < ERROR_CHARACTERS) this.#opening += Buffer.from(bytes).toString("utf8");
    return this.#step(this.#decoder.push(bytes));
  }

  /** The program has ended; `problem` says what went wrong. */
  end(problem: Failure | undefined): readonly ModelEvent[] {
    const events = this.#step(this.#decoder.end());
    if (this.done) return events;
    if (problem !== undefined) return [...events, failed(this.#reportedFailure() ?? problem)];
    if (!this.#framed) return [failed(this.#reportedFailure() ?? noAnswer(this.#context))];
    if (this.#wire.name !== executable.name) return [...events, ...this.#wire.end(this.#state)];
    return [...events, ...this.#step([{ event: "", data: '{"type":"stop"}' }])];
  }

  #step(frames: readonly Frame[]): ModelEvent[] {
    const events: ModelEvent[] = [];
    for (const frame of frames) {
      if (this.done) break;
      this.#framed = true;
      const step = this.#wire.step(this.#state, frame);
      this.#state = step.state;
      events.push(...step.events);
      this.done = step.done === true;
    }
    return events;
  }

  /** A program that forwards the answers of a service may print the service's error instead of a stream. */
  #reportedFailure(): Failure | undefined {
    const value = this.#framed ? undefined : parseJson(this.#opening);
    return isJsonObject(value) && value.error ? streamFailure(value, this.#context) : undefined;
  }
}

function problemOf(error: HttpError, provider: string): Failure {
  if (error instanceof HttpFailure) return error.failure;
  const retryable = error.kind === "timeout" || error.code === TEMPORARY;
  const detail = { name: provider, detail: oneLine(error.message) };
  return failure("ProviderFailed", detail, { ...(retryable && { retryable }) });
}

function noAnswer({ provider }: WireContext): Failure {
  return failure("ProviderFailed", { name: provider, detail: "it ended without an answer" });
}

function failed(problem: Failure): ModelEvent {
  return { type: "failure", failure: problem };
}
