/**
 * A model behind a program (feature M2): the request on its stdin, the answer on its stdout.
 *
 * 1. Problems are `failure` events; a cancelled stream just ends. Either way the program and everything it started is gone when
 *    the stream has ended.
 * 2. An answer that tells its own end is complete, whatever the program does after it. Without that, the exit code decides.
 * 3. What the program writes to stderr is in the failure, and nowhere else.
 */
import type { Clock } from "../../base/clock.js";
import { formatDuration } from "../../base/duration.js";
import type { Model, ModelEvent, ModelRequest, ModelStream, RequestContext } from "../../engine/ports.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { nodeClock } from "../../system/node-clock.js";
import { type ProcessEnd, type RunningProcess, SpawnError, startProcess } from "../../system/process-group.js";
import { executable } from "../wire/executable.js";
import { oneLine, streamFailure } from "../wire/failures.js";
import { parseJson } from "../wire/fields.js";
import { createFrameDecoder, type FrameDecoder } from "../wire/framing.js";
import type { Frame, Wire, WireContext } from "../wire/wire.js";
import { createOutputDecoder } from "./output.js";

export interface ExecutableModelOptions {
  /** The provider's name. */
  readonly provider: string;
  /** The program, as an absolute path. */
  readonly path: string;
  readonly model: string;
  readonly cwd: string;
  /** The program's whole environment; its keys are in it. */
  readonly env: Readonly<Record<string, string>>;
  /** The provider's name, unless given. */
  readonly family?: string;
  /** What the program speaks; Oxbow's own protocol, unless it says another. Others are always asked for a stream. */
  readonly wire?: Wire<unknown>;
  /** "never" for a program that does not know `--stream`. */
  readonly streaming?: "auto" | "never";
  /** How long the program may be silent. */
  readonly idleMs?: number;
  /** The longest answer, when the request names none. */
  readonly maxOutputTokens?: number;
  readonly extra?: JsonObject;
  readonly clock?: Clock;
}

/** Reasoning models can be silent for minutes. */
const IDLE_MS = 300_000;
const ERROR_CHARACTERS = 4096;
/** `EX_TEMPFAIL` of sysexits.h: the same call may succeed later. */
const TEMPORARY_EXIT = 75;

export function createExecutableModel(options: ExecutableModelOptions): Model {
  const { provider, family = provider, model } = options;
  return { provider, family, model, stream: (request, context) => stream(options, request, context) };
}

async function* stream(
  options: ExecutableModelOptions,
  request: ModelRequest,
  { signal }: Pick<RequestContext, "signal">,
): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
  if (signal.aborted) return;
  const { provider, path, model, family = provider, wire = executable as Wire<unknown> } = options;
  const context: WireContext = { provider, family, model, url: path, tools: request.tools };
  const target = { baseUrl: path, family, ...(options.extra !== undefined && { extra: options.extra }) };
  const maxOutputTokens = request.maxOutputTokens ?? options.maxOutputTokens;
  const own = { ...request, model, ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
  const { body } = wire.encode(own, target);
  const output = new Output(options.clock ?? nodeClock, options.idleMs ?? IDLE_MS);
  let running: RunningProcess | undefined;
  try {
    running = await start(options, { input: JSON.stringify(body), output, signal });
    const reading = new Reading(wire, context);
    for await (const bytes of output) {
      const events = reading.take(bytes);
      if (events.length > 0) yield events;
      if (reading.done) return;
    }
    const end = await running.ended;
    if (!signal.aborted) yield reading.end(problemOf(end, output, context));
  } catch (error) {
    if (!(error instanceof SpawnError)) throw error;
    yield [failed(failure("ProviderFailed", { name: provider, detail: oneLine(error.message) }))];
  } finally {
    output.close();
    await running?.stop();
  }
}

async function start(
  { path, cwd, env, streaming, wire, clock }: ExecutableModelOptions,
  { input, output, signal }: { readonly input: string; readonly output: Output; readonly signal: AbortSignal },
): Promise<RunningProcess> {
  const isOwn = wire === undefined || wire.name === executable.name;
  const running = await startProcess({
    argv: streaming === "never" && isOwn ? [path] : [path, "--stream"],
    cwd,
    env,
    input,
    signal,
    onOutput: (bytes) => output.push(bytes),
    onErrorOutput: (bytes) => output.complain(bytes),
    ...(clock !== undefined && { clock }),
  });
  output.onIdle = () => void running.stop();
  void running.ended.then(() => output.close());
  return running;
}

/** The bytes on their way from the program to the reader. */
class Output implements AsyncIterable<Uint8Array> {
  readonly #clock: Clock;
  readonly #idleMs: number;
  #chunks: Uint8Array[] = [];
  #closed = false;
  #wake: () => void = () => {};
  #takeBack: () => void = () => {};
  #complaints = "";
  onIdle: () => void = () => {};
  /** The program was silent for too long. */
  idle = false;

  constructor(clock: Clock, idleMs: number) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#watch();
  }

  get idleMs(): number {
    return this.#idleMs;
  }

  /** The end of what it wrote to stderr. */
  get complaints(): string {
    return this.#complaints.trim();
  }

  push(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#watch();
    this.#wake();
  }

  complain(bytes: Uint8Array): void {
    this.#complaints = (this.#complaints + Buffer.from(bytes).toString("utf8")).slice(-ERROR_CHARACTERS);
    this.#watch();
  }

  close(): void {
    this.#closed = true;
    this.#takeBack();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunks = this.#chunks;
      this.#chunks = [];
      if (chunks.length > 0) yield Buffer.concat(chunks);
      else if (this.#closed) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #watch(): void {
    this.#takeBack();
    if (this.#closed) return;
    this.#takeBack = this.#clock.after(this.#idleMs, () => {
      this.idle = true;
      this.onIdle();
    });
  }
}

/** One answer, from its bytes to its events. */
class Reading {
  readonly #wire: Wire<unknown>;
  readonly #context: WireContext;
  readonly #decoder: FrameDecoder;
  #state: unknown;
  #framed = false;
  #opening = "";
  done = false;

  constructor(wire: Wire<unknown>, context: WireContext) {
    this.#wire = wire;
    this.#context = context;
    this.#decoder = wire.name === executable.name ? createOutputDecoder() : createFrameDecoder(wire.framing);
    this.#state = wire.initial(context);
  }

  take(bytes: Uint8Array): readonly ModelEvent[] {
    if (!this.#framed && this.#opening.length < ERROR_CHARACTERS) this.#opening += Buffer.from(bytes).toString("utf8");
    return this.#step(this.#decoder.push(bytes));
  }

  /** The program has ended; `problem` is why that is no good end. */
  end(problem: Failure | undefined): readonly ModelEvent[] {
    const events = this.#step(this.#decoder.end());
    if (this.done) return events;
    if (problem !== undefined) return [...events, failed(this.#told() ?? problem)];
    if (!this.#framed) return [failed(this.#told() ?? noAnswer(this.#context))];
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

  /** Programs that pass on what a service says pass on its errors too, where a stream should be. */
  #told(): Failure | undefined {
    const value = this.#framed ? undefined : parseJson(this.#opening);
    return isJsonObject(value) && value.error ? streamFailure(value, this.#context) : undefined;
  }
}

function problemOf(end: ProcessEnd, output: Output, { provider }: WireContext): Failure | undefined {
  const because = output.complaints === "" ? "" : `: ${oneLine(output.complaints)}`;
  const failedWith = (detail: string, retryable?: true) =>
    failure("ProviderFailed", { name: provider, detail: detail + because }, { ...(retryable && { retryable }) });
  if (output.idle) return failedWith(`it said nothing for ${formatDuration(output.idleMs)} and was stopped`, true);
  if (end.signal !== undefined) return failedWith(`it was ended by ${end.signal}`);
  if (end.exitCode === TEMPORARY_EXIT) return failedWith("it asks to try again later", true);
  return end.exitCode === 0 ? undefined : failedWith(`it exited with code ${end.exitCode}`);
}

function noAnswer({ provider }: WireContext): Failure {
  return failure("ProviderFailed", { name: provider, detail: "it ended without an answer" });
}

function failed(problem: Failure): ModelEvent {
  return { type: "failure", failure: problem };
}
