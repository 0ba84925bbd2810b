/** What is wrong with a log, and where. */
import type { LogProblem } from "./store.js";

/** Found while walking the chain; `verify` reports it, readers throw it. */
export class ChainBreak extends Error {
  readonly problem: LogProblem;
  readonly event: number;

  constructor(problem: LogProblem, event: number, message: string) {
    super(message);
    this.problem = problem;
    this.event = event;
  }
}
