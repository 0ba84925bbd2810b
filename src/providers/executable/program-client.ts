/**
 * A program that answers on its stdout, with the interface of an HTTP client: code that sends, records or replays requests does not
 * need to know that there is no network.
 *
 * 1. Each request starts the program once, with the body as its stdin. Its whole output is one answer.
 * 2. When the body has been read or abandoned, the program and everything it started has ended.
 * 3. If the program fails, an HttpError follows the last byte. Its message contains the program's stderr.
 */
import type { Clock } from "../../base/clock.js";
import { formatDuration } from "../../base/duration.js";
import type { HttpClient, HttpRequest, HttpResponse } from "../../system/http-client.js";
import { HttpError } from "../../system/http-error.js";
import { nodeClock } from "../../system/node-clock.js";
import { type ProcessEnd, type RunningProcess, startProcess } from "../../system/process-group.js";
import { SpawnError } from "../../system/process-launch.js";
import { oneLine } from "../wire/failures.js";
import { type ContainedProvider, type ProviderCommand, processOf } from "./containment.js";

export interface Program {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Says how long it may be silent. */
  readonly idleMs?: number;
  readonly clock?: Clock;
  /** Puts a sandbox around each start. */
  readonly contain?: (command: ProviderCommand) => Promise<ContainedProvider>;
}

/** The code of an error after which the same call may succeed later. */
export const TEMPORARY = "EX_TEMPFAIL";

/** Reasoning models can be silent for minutes. */
const IDLE_MS = 300_000;
const ERROR_CHARACTERS = 4096;
const MOST_ERROR_BYTES = 16 * 1024 * 1024;
/** `EX_TEMPFAIL` of sysexits.h. */
const TEMPORARY_EXIT = 75;

export function programClient(program: Program): HttpClient {
  return { request: (request) => start(program, request), close: () => {} };
}

async function start(
  { argv, cwd, env, clock = nodeClock, idleMs = IDLE_MS, contain }: Program,
  { body: input = "", signal }: HttpRequest,
): Promise<HttpResponse> {
  const output = new Output(clock, idleMs);
  let command: ContainedProvider | undefined;
  try {
    command = await contained({ argv, cwd, env }, contain);
    const { explain, ended, launch } = command;
    const running = await startProcess(
      {
        ...processOf(command),
        input,
        onOutput: (bytes) => output.push(bytes),
        onErrorOutput: (bytes) => output.complain(bytes),
        clock,
        leavesNothing: true,
        ...(signal !== undefined && { signal }),
      },
      launch,
    );
    output.onStuck = () => void running.stop();
    output.explain = explain ?? output.explain;
    const wholeEnd = running.ended.finally(() => ended?.());
    void wholeEnd.then(() => output.close());
    return answerOf({ ended: wholeEnd, stop: () => running.stop() }, output, signal);
  } catch (error) {
    output.close();
    await command?.ended?.();
    if (error instanceof SpawnError) throw new HttpError("connect", oneLine(error.message));
    throw error;
  }
}

async function contained(plain: ProviderCommand, contain: Program["contain"]): Promise<ContainedProvider> {
  if (contain === undefined) return plain;
  try {
    return await contain(plain);
  } catch (error) {
    throw new HttpError("connect", oneLine((error as Error).message));
  }
}

type Running = Pick<RunningProcess, "ended" | "stop">;

function answerOf(running: Running, output: Output, signal: AbortSignal | undefined): HttpResponse {
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      yield* output;
      const end = await running.ended;
      if (signal?.aborted) throw new HttpError("aborted", "cancelled");
      const problem = problemOf(end, output);
      if (problem !== undefined) throw problem;
    } finally {
      output.close();
      await running.stop();
      await running.ended;
    }
  }
  const stop = () => void running.stop();
  const text = async (limitBytes: number) => {
    const pieces: Uint8Array[] = [];
    for await (const bytes of body()) pieces.push(bytes);
    return Buffer.concat(pieces).subarray(0, limitBytes).toString("utf8");
  };
  return { status: 200, headers: {}, body: body(), text, release: stop, destroy: stop };
}

function problemOf(end: ProcessEnd, output: Output): HttpError | undefined {
  const hint = end.exitCode === 0 ? undefined : output.explain(output.complaints);
  const said = [output.complaints, hint ?? ""].filter((part) => part !== "").join("; ");
  const because = said === "" ? "" : `: ${oneLine(said)}`;
  if (output.flooded) return new HttpError("dropped", "it wrote too much to stderr, so Oxbow stopped it");
  if (output.idle) {
    return new HttpError(
      "timeout",
      `it sent no output for ${formatDuration(output.idleMs)}, so Oxbow stopped it${because}`,
    );
  }
  if (end.signal !== undefined) return new HttpError("dropped", `it was ended by ${end.signal}${because}`);
  if (end.exitCode === TEMPORARY_EXIT) {
    return new HttpError("dropped", `it asks to try again later${because}`, TEMPORARY);
  }
  return end.exitCode === 0 ? undefined : new HttpError("dropped", `it exited with code ${end.exitCode}${because}`);
}

/** Passes bytes from the program to the reader. */
class Output implements AsyncIterable<Uint8Array> {
  readonly #clock: Clock;
  readonly #idleMs: number;
  #chunks: Uint8Array[] = [];
  #closed = false;
  #wake: () => void = () => {};
  #takeBack: () => void = () => {};
  #complaints = "";
  #complaintBytes = 0;
  onStuck: () => void = () => {};
  explain: (errors: string) => string | undefined = () => undefined;
  /** The program was silent for too long. */
  idle = false;
  /** It wrote to stderr without end, which would keep it from being silent. */
  flooded = false;

  constructor(clock: Clock, idleMs: number) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#watch();
  }

  get idleMs(): number {
    return this.#idleMs;
  }

  /** The last part of its stderr. */
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
    this.#complaintBytes += bytes.length;
    this.#watch();
    if (this.#complaintBytes <= MOST_ERROR_BYTES || this.flooded) return;
    this.flooded = true;
    this.onStuck();
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
      this.onStuck();
    });
  }
}
