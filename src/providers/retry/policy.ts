/**
 * Decides whether Oxbow retries a failed model call after a wait.
 *
 * 1. Only a temporary failure is retried: a wrong key, an empty account, a refusal or a bad request never is.
 * 2. A wait that the provider names is never shortened; if it is too long, the call fails at once.
 * 3. All waits of one call together stay below the limit.
 */
import { type BuiltInReason, type Failure, failure, humanWait } from "../../protocol/errors.js";

export interface RetryLimits {
  /** The most that all waits of one model call may take together; 0: no retries. */
  readonly totalWaitMs: number;
}

export interface Attempts {
  /** The number of failed attempts, including this one. */
  readonly failed: number;
  /** Says how many of them failed for the same reason. */
  readonly alike: number;
  readonly waitedMs: number;
  /** The stream had begun, so the address belongs to a model server. */
  readonly begun: boolean;
}

interface Habit {
  readonly retries: number;
  /** The first wait; each further one is twice as long. */
  readonly firstMs: number;
}

const HABITS: Partial<Readonly<Record<BuiltInReason, Habit>>> = {
  RateLimited: { retries: 6, firstMs: 2000 },
  Overloaded: { retries: 6, firstMs: 1000 },
  ProviderFailed: { retries: 3, firstMs: 500 },
  NetworkFailed: { retries: 3, firstMs: 500 },
  StreamInterrupted: { retries: 4, firstMs: 250 },
};
/** A stream that was damaged on its way. A wrong address never begins a stream. */
const GARBLED: Habit = { retries: 1, firstMs: 250 };
/** For all reasons together. */
const MOST_RETRIES = 10;
const LONGEST_WAIT_MS = 60_000;

/** Milliseconds until the next attempt, or undefined to fail. `random` is from 0 up to 1. */
export function nextWait(
  problem: Failure,
  attempts: Attempts,
  { totalWaitMs, random }: RetryLimits & { readonly random: () => number },
): number | undefined {
  const habit = habitFor(problem, attempts);
  if (habit === undefined || attempts.alike > habit.retries || attempts.failed > MOST_RETRIES) return undefined;
  const full = Math.min(habit.firstMs * 2 ** (attempts.alike - 1), LONGEST_WAIT_MS);
  // Clients that failed at the same time must not retry at the same time.
  const wait =
    problem.retry_after_ms === undefined ? full * (0.5 + random() / 2) : problem.retry_after_ms + random() * 250;
  return attempts.waitedMs + wait > totalWaitMs ? undefined : wait;
}

/** Tells whether a retry may succeed later. A failure after the last attempt is final. */
export function isPassing(problem: Failure, { begun }: Pick<Attempts, "begun">): boolean {
  if (problem.attempts !== undefined) return false;
  return problem.retryable === true || (problem.reason === "MalformedResponse" && begun);
}

/** Tells whether another model may do better: true unless the conversation itself is the cause. */
export function mayFailOver({ reason }: Failure): boolean {
  return reason !== "BadRequest" && reason !== "ContextTooLong" && reason !== "ContentRefused" && reason !== "Internal";
}

/** The failure as shown during the wait. */
export function whileWaiting(problem: Failure, { name, waitMs }: { readonly name: string; readonly waitMs: number }) {
  if (problem.reason === "RateLimited") {
    return {
      ...problem,
      message: failure("RateLimited", { name, "retry-after": Math.max(1, Math.round(waitMs / 1000)) }).message,
    };
  }
  return { ...problem, message: `${whatHappened(problem, name)}. Retrying in ${humanWait(waitMs)}…` };
}

/** The failure as shown when the turn continues without a wait. */
export function whileGoingOn(problem: Failure, name: string): Failure {
  return { ...problem, message: `${whatHappened(problem, name)}. Continuing with the tool calls that arrived.` };
}

/** The failure as shown when another model takes over. */
export function whileFailingOver(problem: Failure, name: string): Failure {
  const hasHabit = problem.reason in HABITS;
  return hasHabit ? { ...problem, message: `${whatHappened(problem, name)}.` } : problem;
}

function habitFor(problem: Failure, attempts: Attempts): Habit | undefined {
  if (!isPassing(problem, attempts)) return undefined;
  if (problem.reason === "MalformedResponse") return GARBLED;
  return HABITS[problem.reason as BuiltInReason] ?? HABITS.ProviderFailed;
}

function whatHappened({ reason, status }: Failure, name: string): string {
  switch (reason) {
    case "Overloaded":
      return `${name} is overloaded`;
    case "NetworkFailed":
      return `${name} could not be reached`;
    case "StreamInterrupted":
      return `${name} closed the connection in the middle of its answer`;
    case "MalformedResponse":
      return `The answer of ${name} arrived damaged`;
    case "RateLimited":
      return `${name} is rate-limiting requests`;
    default:
      return `${name} failed${status === undefined ? "" : ` (HTTP ${status})`}`;
  }
}
