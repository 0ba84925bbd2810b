/**
 * `oxbow bench` and `/bench`: one prompt to several models, one after the other, because models on one machine would slow each
 * other down.
 */
import type { Clock } from "../../base/clock.js";
import { UsageError } from "../../base/usage-error.js";
import {
  COMMAND_EXIT,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandOf,
  type CommandResult,
  EVERYONE,
  refuse,
  type Subject,
  withPort,
} from "../../feature/command.js";
import { failure } from "../../protocol/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import type { ProviderState } from "../selection/describe.js";
import type { Resolved } from "../selection/open-model.js";
import { type Measurement, measure, median, tokensPerSecond } from "./measure.js";
import { type BenchRow, benchTable } from "./table.js";

interface BenchRequest {
  readonly models: readonly string[];
  readonly prompt: string;
  readonly runs: number;
  readonly maxOutputTokens: number;
}

const DEFAULT_PROMPT = "Explain in about 100 words how a river becomes an oxbow lake.";
const DEFAULT_RUNS = 1;
const DEFAULT_MAX_TOKENS = 256;

interface Registry {
  look(spec: string): Promise<Resolved>;
  providers(): Promise<readonly ProviderState[]>;
}

/** `aside` runs it during a conversation, so that the session's cancel stops it. */
interface BenchPort {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly aside?: <T>(action: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}

const BENCH: CommandOf<BenchPort> = {
  name: "bench",
  usage: "/bench [MODEL…] [--runs N] [--prompt TEXT]",
  summary: "measure how fast models answer: those named, or the installed ones",
  arguments: [{ name: "MODEL", kind: "text", optional: true, rest: "list", complete: "model" }],
  flags: [
    { name: "prompt", short: "p", value: "TEXT", help: "the prompt (default: a request for a short explanation)" },
    { name: "runs", short: "n", value: "N", help: "how often to run each model; the median counts (default 1)" },
    { name: "max-tokens", value: "N", help: "the longest answer in tokens (default 256)" },
  ],
  users: EVERYONE,
  places: ["between turns", "without a session"],
  run: async (args, port, context) => {
    const request = requestOf(args);
    if ("failure" in request) return request;
    const { aside = (action) => action(context.signal) } = port;
    return aside((signal) => answer(request, port, { ...context, signal }));
  },
};

export const subject: Subject = {
  name: "bench",
  summary: BENCH.summary,
  heading: "Models, keys and costs",
  specs: [BENCH],
  shell: {
    about: `Asks each model the same question and shows the time to the first token, the total time, and the tokens per second.
Without names it asks every model on this machine, and the default model of each other provider that is ready.`,
    more: "Example:  oxbow bench ollama:qwen3:8b anthropic --runs 3",
  },
};

export function benchCommands(port: BenchPort): readonly Command[] {
  return withPort([BENCH], () => port);
}

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
  const exitCode = signal.aborted ? COMMAND_EXIT.cancelled : isMeasured ? 0 : COMMAND_EXIT.failed;
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
  readonly registry: Registry;
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
async function installed(registry: Registry): Promise<readonly string[]> {
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
