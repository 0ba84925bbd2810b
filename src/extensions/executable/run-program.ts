/**
 * Runs an executable extension once: JSON or nothing in, bytes out.
 *
 * 1. It never throws because of the program, and never waits longer than the deadline.
 * 2. A program that prints more than the limit is stopped at once; memory is bounded.
 * 3. When it returns, the program and everything that it started have ended.
 */
import { formatDuration } from "../../base/duration.js";
import { safeText } from "../../base/terminal-text.js";
import type { ToolContext } from "../../engine/ports.js";
import { type ProcessEnd, startProcess } from "../../system/process-group.js";
import { SpawnError } from "../../system/process-launch.js";
import type { ContainedCommand, Containment } from "./containment.js";

export interface ProgramRequest {
  /** The private copy of the approved file. */
  readonly program: string;
  readonly args: readonly string[];
  /** Its standard input; default: empty. */
  readonly input?: string;
  /** Says what it may do: `reads` for its own description. */
  readonly reach: "reads" | "acts";
  readonly openings?: readonly string[];
  /** The call that it works for. */
  readonly context?: Pick<ToolContext, "call" | "granted" | "approved" | "ask">;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** Gets the output while the program runs; the result then has none. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** Gets its stderr while it runs. */
  readonly onMessage?: (text: string) => void;
}

export interface ProgramResult {
  readonly status: "ok" | "error" | "timeout" | "cancelled";
  readonly output: string;
  /** The last part of its stderr, safe to show. */
  readonly errors: string;
  /** The problem, as the end of "PROGRAM …"; empty if there is none. */
  readonly problem: string;
  readonly exitCode?: number;
  readonly durationMs: number;
  readonly leftBehind?: string;
}

const ERROR_CHARACTERS = 4096;

export async function runProgram(request: ProgramRequest, containment: Containment): Promise<ProgramResult> {
  const { clock } = containment;
  const from = clock.now();
  const sink = new Sink(request);
  const failed = (problem: string): ProgramResult => ({
    ...{ status: "error", output: "", errors: "", problem },
    durationMs: clock.now() - from,
  });
  if (request.signal?.aborted) return { ...failed("was cancelled before it started"), status: "cancelled" };
  let command: ContainedCommand | undefined;
  try {
    command = await contain(request, containment);
    command.started?.(request.context?.granted ?? []);
    const running = await startProcess(
      {
        ...withoutHooks(command),
        input: request.input ?? "",
        timeoutMs: request.timeoutMs,
        clock,
        leavesNothing: true,
        onOutput: (chunk) => sink.take(chunk),
        onErrorOutput: (chunk) => sink.complain(chunk),
        ...(request.signal && { signal: request.signal }),
      },
      command.launch,
    );
    sink.onFlood = () => void running.stop();
    const end = await running.ended;
    const hint = end.exitCode === 0 ? undefined : command.explain?.(sink.errors);
    const notes = (await command.settle?.(end, request.context ?? {}))?.notes ?? [];
    return { ...resultOf(end, { sink, request, hint }), durationMs: clock.now() - from, ...left(command, notes) };
  } catch (error) {
    if (error instanceof SpawnError) return failed(`could not be started: ${error.message}`);
    return failed(`could not be run: ${(error as Error).message}`);
  } finally {
    await command?.ended?.();
  }
}

function contain({ program, args, reach, openings = [], env }: ProgramRequest, containment: Containment) {
  const plain = { argv: [program, ...args], cwd: containment.root, env: { ...containment.env, ...env } };
  return reach === "acts" ? containment.acting(plain, openings) : containment.reading(plain);
}

/** The fields for a process request. */
function withoutHooks({ argv, cwd, env, withheld, isWrapper, endsWithAll }: ContainedCommand) {
  return {
    ...{ argv, cwd, env, withheld, isWrapper, endsWithAll },
  };
}

function left(command: ContainedCommand, notes: readonly string[]): Pick<ProgramResult, "leftBehind"> {
  const lines = [...notes, command.leftBehind?.() ?? ""].filter((line) => line !== "");
  return lines.length === 0 ? {} : { leftBehind: lines.join("\n") };
}

function resultOf(
  end: ProcessEnd,
  { sink, request, hint }: { readonly sink: Sink; readonly request: ProgramRequest; readonly hint: string | undefined },
): Omit<ProgramResult, "durationMs"> {
  const { output, errors } = sink;
  const base = { output, errors, ...(end.exitCode !== undefined && { exitCode: end.exitCode }) };
  const more = hint === undefined ? "" : ` (${hint})`;
  if (sink.flooded)
    return { ...base, status: "error", problem: `printed more than ${sizeText(request.maxBytes)}, so it was stopped` };
  if (end.reason === "cancelled") return { ...base, status: "cancelled", problem: "was cancelled" };
  if (end.reason === "timeout") {
    const limit = formatDuration(request.timeoutMs);
    return { ...base, status: "timeout", problem: `did not end within ${limit}, so it was stopped` };
  }
  if (end.signal !== undefined) return { ...base, status: "error", problem: `was ended by ${end.signal}${more}` };
  if (end.exitCode !== 0) return { ...base, status: "error", problem: `exited with code ${end.exitCode}${more}` };
  return { ...base, status: "ok", problem: "" };
}

function sizeText(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MB` : `${Math.floor(bytes / 1024)} KB`;
}

class Sink {
  readonly #max: number;
  readonly #onMessage: ((text: string) => void) | undefined;
  readonly #onOutput: ((chunk: Buffer) => void) | undefined;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #errors = "";
  #errorBytes = 0;
  flooded = false;
  onFlood: () => void = () => {};

  constructor({ maxBytes, onMessage, onOutput }: ProgramRequest) {
    this.#onOutput = onOutput;
    this.#max = maxBytes;
    this.#onMessage = onMessage;
  }

  get output(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  get errors(): string {
    return safeText(this.#errors).trim();
  }

  take(chunk: Buffer): void {
    if (this.flooded) return;
    const room = this.#max - this.#bytes;
    const fitting = chunk.length > room ? chunk.subarray(0, room) : chunk;
    if (this.#onOutput === undefined) this.#chunks.push(fitting);
    else this.#onOutput(fitting);
    this.#bytes += chunk.length;
    if (chunk.length > room) this.#flood();
  }

  complain(chunk: Buffer): void {
    this.#errorBytes += chunk.length;
    const text = chunk.toString("utf8");
    this.#errors = (this.#errors + text).slice(-ERROR_CHARACTERS);
    if (this.#errorBytes <= this.#max) this.#onMessage?.(safeText(text));
    else this.#flood();
  }

  #flood(): void {
    if (this.flooded) return;
    this.flooded = true;
    this.onFlood();
  }
}
