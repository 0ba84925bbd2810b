/**
 * `oxbow bench` and `/bench` (feature M17): one prompt over several models, one after the other, because models on one machine
 * would slow each other down.
 */
import type { Clock } from "../../base/clock.js";
import { UsageError } from "../../base/usage-error.js";
import type { ParsedFlags } from "../../commands/flags.js";
import type { JsonObject } from "../../protocol/json.js";
import { type Measurement, measure, median, tokensPerSecond } from "../../providers/bench/measure.js";
import type { BenchRow } from "../../providers/bench/table.js";
import type { ModelRegistry } from "../models/model-registry.js";

export const BENCH_FLAGS = [
  { name: "prompt", short: "p", value: "TEXT", help: "what to ask (default: a short explanation)" },
  { name: "runs", short: "n", value: "N", help: "how often to ask each model; the middle counts (default 1)" },
  { name: "max-tokens", value: "N", help: "the most an answer may have (default 256)" },
  { name: "json", help: "as JSON, with every run" },
  { name: "help", short: "h", help: "show this help" },
];

export interface BenchOptions {
  readonly models: readonly string[];
  readonly prompt: string;
  readonly runs: number;
  readonly maxOutputTokens: number;
}

const DEFAULT_PROMPT = "Explain in about 100 words how a river becomes an oxbow lake.";
const DEFAULT_RUNS = 1;
const DEFAULT_MAX_TOKENS = 256;

export function benchOptions(flags: ParsedFlags): BenchOptions {
  return {
    models: flags.words,
    prompt: flags.text("prompt") ?? DEFAULT_PROMPT,
    runs: count(flags, "runs") ?? DEFAULT_RUNS,
    maxOutputTokens: count(flags, "max-tokens") ?? DEFAULT_MAX_TOKENS,
  };
}

function count(flags: ParsedFlags, name: string): number | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new UsageError(`--${name}: expected a whole number from 1, got "${text}".`);
  }
  return value;
}

export interface BenchPorts {
  readonly registry: ModelRegistry;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What is being done, in a few words. */
  readonly onProgress: (what: string) => void;
}

/** As far as it came when the signal fires. */
export async function bench(options: BenchOptions, ports: BenchPorts): Promise<readonly BenchRow[]> {
  const { registry, signal, onProgress } = ports;
  onProgress("looking for models");
  const specs = options.models.length > 0 ? options.models : await installed(registry);
  const rows: BenchRow[] = [];
  for (const [index, spec] of specs.entries()) {
    if (signal.aborted) break;
    const place = `${spec} (${index + 1} of ${specs.length})`;
    const row = await benchModel(spec, options, { ...ports, onProgress: (what) => onProgress(`${place}${what}`) });
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** What is on this machine, and of each service its usual model: asking for all of theirs would cost money for nothing. */
async function installed(registry: ModelRegistry): Promise<readonly string[]> {
  const ready = (await registry.providers()).filter(({ name, ready }) => ready && name !== "offline");
  return ready.flatMap(({ name, baseUrl, models }) => {
    const here = /^https?:\/\/(localhost|127\.|\[::1\])/.test(baseUrl);
    return here ? models.filter(({ id }) => !/embed/i.test(id)).map(({ id }) => `${name}:${id}`) : [name];
  });
}

async function benchModel(spec: string, options: BenchOptions, ports: BenchPorts): Promise<BenchRow | undefined> {
  const { registry, signal, onProgress } = ports;
  const found = await registry.look(spec);
  if ("failure" in found) return { model: spec, runs: [], middle: undefined, problem: found.failure.message };
  const { model } = found;
  const runs: Measurement[] = [];
  let problem: string | undefined;
  for (let run = 1; run <= options.runs && problem === undefined && !signal.aborted; run++) {
    onProgress(options.runs === 1 ? "" : `, run ${run} of ${options.runs}`);
    const result = await measure(model, { ...options, ...ports });
    if ("measured" in result) runs.push(result.measured);
    else problem = result.failure.message;
  }
  if (signal.aborted && runs.length === 0) return undefined;
  const row = { model: `${model.provider}:${model.model}`, runs, middle: median(runs) };
  return problem === undefined || signal.aborted ? row : { ...row, problem };
}

export function benchJson(rows: readonly BenchRow[]): JsonObject {
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
