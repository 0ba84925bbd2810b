/** Describes what is wrong with a log, and where. */
import { type LogProblem, StoreError, type Verification } from "./store.js";

/** Found while walking the log; `verify` reports it, readers throw it. */
export class ChainBreak extends Error {
  readonly problem: LogProblem;
  readonly event: number;

  constructor(problem: LogProblem, event: number, message: string) {
    super(message);
    this.problem = problem;
    this.event = event;
  }
}

/** Tells what a reader gets instead of a break. */
export function asStoreError(error: unknown): unknown {
  if (!(error instanceof ChainBreak)) return error;
  return new StoreError("damaged", `The log of this session is damaged. ${error.message}`, { cause: error });
}

/** Tells what `verify` says about it; throws any other error. */
export function asVerification(error: unknown): Verification {
  if (!(error instanceof ChainBreak)) throw error;
  return { ok: false, problem: error.problem, event_id: error.event, message: error.message };
}
