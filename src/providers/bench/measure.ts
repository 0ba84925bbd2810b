/** Describes how fast a model answers one prompt. */
import type { Clock } from "../../base/clock.js";
import type { Model } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { NO_USAGE, type Usage } from "../../protocol/usage.js";

export interface Measurement {
  /** The time until the first piece of text or thinking. */
  readonly firstTokenMs: number;
  readonly totalMs: number;
  readonly promptTokens: number;
  /** The provider's count, including thinking; 0 if it does not count. */
  readonly answerTokens: number;
}

export interface MeasureOptions {
  readonly prompt: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly maxOutputTokens?: number | undefined;
}

export async function measure(
  model: Model,
  { prompt, clock, signal, maxOutputTokens }: MeasureOptions,
): Promise<{ readonly measured: Measurement } | { readonly failure: Failure }> {
  const request = {
    model: model.model,
    system: "",
    messages: [{ role: "user", content: [text(prompt)] }] as const,
    tools: [],
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
  const from = clock.now();
  let firstTokenMs: number | undefined;
  let usage: Usage = NO_USAGE;
  for await (const batch of model.stream(request, { model, signal })) {
    for (const event of batch) {
      if (event.type === "failure") return { failure: event.failure };
      if (event.type === "text" || event.type === "thinking") firstTokenMs ??= clock.now() - from;
      if (event.type === "usage") usage = event.usage;
    }
  }
  if (signal.aborted) return { failure: failure("Interrupted") };
  const totalMs = clock.now() - from;
  return {
    measured: {
      firstTokenMs: firstTokenMs ?? totalMs,
      totalMs,
      promptTokens: usage.input + usage.cache_read + usage.cache_write,
      answerTokens: usage.output,
    },
  };
}

/** The speed after the first piece. For an answer in one piece, the total time counts. */
export function tokensPerSecond({ firstTokenMs, totalMs, answerTokens }: Measurement): number | undefined {
  const writing = totalMs - firstTokenMs >= 1 ? totalMs - firstTokenMs : totalMs;
  return answerTokens === 0 || writing <= 0 ? undefined : answerTokens / (writing / 1000);
}

/** The median of each number over several runs, so that one slow run, such as the one that loads a model, does not matter. */
export function median(runs: readonly Measurement[]): Measurement | undefined {
  if (runs.length === 0) return undefined;
  const middle = (pick: (run: Measurement) => number) => {
    const values = runs.map(pick).sort((one, other) => one - other);
    const at = (values.length - 1) / 2;
    return ((values[Math.floor(at)] ?? 0) + (values[Math.ceil(at)] ?? 0)) / 2;
  };
  return {
    firstTokenMs: middle((run) => run.firstTokenMs),
    totalMs: middle((run) => run.totalMs),
    promptTokens: middle((run) => run.promptTokens),
    answerTokens: middle((run) => run.answerTokens),
  };
}
