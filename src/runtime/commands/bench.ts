/**
 * `oxbow bench` and `/bench`: one prompt to several models, one after the other, because models on one machine would slow each
 * other down.
 */
import type { Clock } from "../../base/clock.js";
import { UsageError } from "../../base/usage-error.js";
import { BENCH } from "../../commands/catalogue/models.js";
import {
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  refuse,
} from "../../commands/command.js";
import { failure } from "../../protocol/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import { type Measurement, measure, median, tokensPerSecond } from "../../providers/bench/measure.js";
import { type BenchRow, benchTable } from "../../providers/bench/table.js";
import type { ModelRegistry } from "../models/model-registry.js";

interface BenchRequest {
  readonly models: readonly string[];
  readonly prompt: string;
  readonly runs: number;
  readonly maxOutputTokens: number;
}

const DEFAULT_PROMPT = "Explain in about 100 words how a river becomes an oxbow lake.";
const DEFAULT_RUNS = 1;
const DEFAULT_MAX_TOKENS = 256;

/** `aside` runs it during a conversation, so that the session's cancel stops it. */
export interface BenchPort {
  readonly registry: ModelRegistry;
  readonly clock: Clock;
  readonly aside?: <T>(action: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}

export function benchCommand(port: BenchPort): Command {
  const { aside } = port;
  return {
    ...BENCH,
    run: async (args, context) => {
      const request = requestOf(args);
      if ("failure" in request) return request;
      if (aside === undefined) return answer(request, port, context);
      return aside((signal) => answer(request, port, { ...context, signal }));
    },
  };
}

const FAILED = 1;
const CANCELLED = 130;

async function answer(
  request: BenchRequest,
  { registry, clock }: BenchPort,
  context: CommandContext,
): Promise<CommandResult> {
  const { signal } = context;
  const rows = await bench(request, { registry, clock, signal, onProgress: (message) => context.progress(message) });
  if (rows.length === 0) {
    if (signal.aborted) return refuse("Cancelled.");
    const models = context.surface === "slash" ? "/model" : "'oxbow models'";
    return {
      failure: { ...failure("NoModel"), message: `No model is ready. ${models} shows what each provider needs.` },
    };
  }
  const isMeasured = rows.some(({ middle }) => middle !== undefined);
  const exitCode = signal.aborted ? CANCELLED : isMeasured ? 0 : FAILED;
  return { text: benchTable(rows), value: benchJson(rows), exitCode };
}

function requestOf(args: CommandArguments): BenchRequest | ReturnType<typeof refuse> {
  try {
    return {
      models: args.list("MODEL"),
      prompt: args.flag("prompt") ?? DEFAULT_PROMPT,
      runs: count(args, "runs") ?? DEFAULT_RUNS,
      maxOutputTokens: count(args, "max-tokens") ?? DEFAULT_MAX_TOKENS,
    };
  } catch (error) {
    if (error instanceof UsageError) return refuse(error.message);
    throw error;
  }
}

function count(args: CommandArguments, name: string): number | undefined {
  const text = args.flag(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new UsageError(`--${name}: expected a whole number from 1, got "${text}".`);
  }
  return value;
}

interface BenchPorts {
  readonly registry: ModelRegistry;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The current step, in a few words. */
  readonly onProgress: (what: string) => void;
}

/** Partial if the signal fires. */
async function bench(request: BenchRequest, ports: BenchPorts): Promise<readonly BenchRow[]> {
  const { registry, signal, onProgress } = ports;
  onProgress("looking for models");
  const specs = request.models.length > 0 ? request.models : await installed(registry);
  const rows: BenchRow[] = [];
  for (const [index, spec] of specs.entries()) {
    if (signal.aborted) break;
    const place = `${spec} (${index + 1} of ${specs.length})`;
    const row = await benchModel(spec, request, { ...ports, onProgress: (what) => onProgress(`${place}${what}`) });
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** The models on this machine, and the default model of each service: measuring all of theirs would cost money. */
async function installed(registry: ModelRegistry): Promise<readonly string[]> {
  const ready = (await registry.providers()).filter(({ name, ready }) => ready && name !== "offline");
  return ready.flatMap(({ name, baseUrl, models }) => {
    const here = /^https?:\/\/(localhost|127\.|\[::1\])/.test(baseUrl);
    return here ? models.filter(({ id }) => !/embed/i.test(id)).map(({ id }) => `${name}:${id}`) : [name];
  });
}

async function benchModel(spec: string, request: BenchRequest, ports: BenchPorts): Promise<BenchRow | undefined> {
  const { registry, signal, onProgress } = ports;
  const found = await registry.look(spec);
  if ("failure" in found) return { model: spec, runs: [], middle: undefined, problem: found.failure.message };
  const { model } = found;
  const runs: Measurement[] = [];
  let problem: string | undefined;
  for (let run = 1; run <= request.runs && problem === undefined && !signal.aborted; run++) {
    onProgress(request.runs === 1 ? "" : `, run ${run} of ${request.runs}`);
    const result = await measure(model, { ...request, ...ports });
    if ("measured" in result) runs.push(result.measured);
    else problem = result.failure.message;
  }
  if (signal.aborted && runs.length === 0) return undefined;
  const row = { model: `${model.provider}:${model.model}`, runs, middle: median(runs) };
  return problem === undefined || signal.aborted ? row : { ...row, problem };
}

function benchJson(rows: readonly BenchRow[]): JsonObject {
  return {
    models: rows.map(({ model, runs, middle, problem }) => ({
      model,
      median: middle === undefined ? null : measurementJson(middle),
      runs: runs.map(measurementJson),
      ...(problem !== undefined && { error: problem }),
    })),
  };
}

function measurementJson(measured: Measurement): JsonObject {
  const speed = tokensPerSecond(measured);
  return {
    first_token_ms: round(measured.firstTokenMs),
    total_ms: round(measured.totalMs),
    prompt_tokens: measured.promptTokens,
    answer_tokens: measured.answerTokens,
    tokens_per_second: speed === undefined ? null : round(speed),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
