/**
 * One answer from several attempts.
 *
 * 1. The same request is sent again, so the provider's cache still matches, and no model has to continue half an answer.
 * 2. Text appears once, whatever fails (shown-answer.ts).
 * 3. After a complete tool call there is no retry, because the call may be running. The answer ends there, and the turn continues with the call.
 * 4. A cancel ends a wait at once.
 */
import { onAbort } from "../../base/abort-tree.js";
import type { Clock } from "../../base/clock.js";
import type { Model, ModelEvent, ModelStream } from "../../engine/ports.js";
import { type Failure, gaveUp } from "../../protocol/errors.js";
import { type Attempts, isPassing, nextWait, type RetryLimits, whileGoingOn, whileWaiting } from "./policy.js";
import { ShownAnswer } from "./shown-answer.js";

export interface RetryOptions extends RetryLimits {
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
}

export interface AttemptSource {
  readonly provider: string;
  readonly signal: AbortSignal;
  open(): Promise<ModelStream> | ModelStream;
}

/** The model, with retries where they may help. */
export function withRetries(model: Model, options: RetryOptions): Model {
  const { provider, family, model: name, contextTokens, outputTokens } = model;
  return {
    provider,
    family,
    model: name,
    ...(contextTokens !== undefined && { contextTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(model.searchesWeb === true && { searchesWeb: true as const }),
    ...(model.contextLimit !== undefined && {
      contextLimit: () => model.contextLimit?.() ?? Promise.resolve(undefined),
    }),
    ...(model.ownPrice !== undefined && { ownPrice: () => model.ownPrice?.() ?? Promise.resolve(undefined) }),
    stream: (request, context) =>
      attempts({ provider, signal: context.signal, open: () => model.stream(request, { ...context, model }) }, options),
  };
}

export async function* attempts(
  source: AttemptSource,
  options: RetryOptions,
): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
  // Without another attempt, everything passes through as it arrives.
  if (options.totalWaitMs === 0) {
    yield* once(source);
    return;
  }
  const shown = new ShownAnswer();
  let count: Attempts = { failed: 0, alike: 0, waitedMs: 0, begun: false };
  let last: Failure | undefined;
  for (;;) {
    let problem: Failure | undefined;
    let begun = false;
    for await (const batch of await source.open()) {
      const end = batch.find((event) => event.type === "failure");
      const events = shown.take(end === undefined ? batch : batch.slice(0, batch.indexOf(end)));
      begun ||= batch.length > 1 || end === undefined;
      if (events.length > 0) yield events;
      if (end?.type === "failure") {
        problem = end.failure;
        break;
      }
    }
    if (problem === undefined || source.signal.aborted) return;
    count = { ...count, failed: count.failed + 1, alike: problem.reason === last?.reason ? count.alike + 1 : 1, begun };
    last = problem;
    if (shown.calls > 0 && isPassing(problem, count)) {
      const shownFailure = whileGoingOn(problem, source.provider);
      yield [...shown.end(), { type: "cut", failure: shownFailure }, { type: "stop", reason: "tool_calls" }];
      return;
    }
    const waitMs = nextWait(problem, count, options);
    if (waitMs === undefined) {
      const final = isPassing(problem, count) || count.failed > 1;
      yield [
        ...shown.end(),
        { type: "failure", failure: final ? finalFailure(problem, source.provider, count) : problem },
      ];
      return;
    }
    const shownFailure = whileWaiting(problem, { name: source.provider, waitMs });
    yield [{ type: "again", failure: shownFailure, waitMs, attempt: count.failed }];
    await pause(waitMs, options.clock, source.signal);
    if (source.signal.aborted) return;
    count = { ...count, waitedMs: count.waitedMs + waitMs };
    shown.restart(problem.reason);
  }
}

/** One attempt without a retry: its failure does not announce another attempt. */
async function* once({ provider: name, open }: AttemptSource): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
  for await (const batch of await open()) {
    yield batch.map((event) => {
      if (event.type !== "failure" || !isPassing(event.failure, { begun: false })) return event;
      return { type: "failure", failure: gaveUp(event.failure, { name, attempts: 1 }) };
    });
  }
}

function finalFailure(problem: Failure, name: string, { failed }: Attempts): Failure {
  return problem.attempts === undefined ? gaveUp(problem, { name, attempts: failed }) : problem;
}

function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stopTimer = clock.after(ms, () => {
      stopListening();
      resolve();
    });
    const stopListening = onAbort(signal, () => {
      stopTimer();
      resolve();
    });
  });
}
