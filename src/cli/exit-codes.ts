/** The exit codes. Scripts rely on them. */
import type { Problem } from "../clients/headless/repl.js";
import type { Failure } from "../protocol/errors.js";
import type { EventPayloads } from "../protocol/events.js";

export const EXIT = {
  answered: 0,
  failed: 1,
  usage: 2,
  limit: 3,
  denied: 4,
  unapproved: 5,
  noModel: 6,
  cancelled: 130,
} as const;

export function exitCodeOf(ended: EventPayloads["TurnEnded"]): number {
  if (ended.outcome === "stopped") return EXIT.failed;
  return ended.outcome === "failed" && ended.failure ? exitCodeOfFailure(ended.failure) : EXIT[ended.outcome];
}

export function exitCodeOfFailure(failure: Failure): number {
  switch (failure.reason) {
    case "NoModel":
      return EXIT.noModel;
    case "InvalidInput":
    case "ConfigurationInvalid":
      return EXIT.usage;
    case "NonInteractiveAckRefused":
      return EXIT.unapproved;
    default:
      return EXIT.failed;
  }
}

/** The exit code for the first line of a script that failed. */
export function exitCodeOfProblem(problem: Problem): number {
  switch (problem.kind) {
    case "shell":
      return EXIT.failed;
    case "answer":
      return problem.exitCode;
    case "turn":
      return exitCodeOf(problem.ended);
    default:
      return exitCodeOfFailure(problem.failure);
  }
}
