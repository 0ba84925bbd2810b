/** A run that ended without a turn: every command ends this way, and a program that reads JSON gets an object for it. */
import { jsonText } from "../base/json-text.js";
import type { Failure } from "../protocol/errors.js";
import { exitCodeOfFailure } from "./exit-codes.js";
import { printMessage } from "./print-message.js";

export class FailedRun extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Prints the failure, as JSON too if the arguments ask for it, and returns the exit code. */
export function reportFailure(
  failure: Failure,
  args: readonly string[],
  exitCode: number = exitCodeOfFailure(failure),
): number {
  printMessage(failure.message);
  const format = jsonFormat(args);
  const ended = { outcome: "failed", text: "", failure, exit_code: exitCode };
  if (format === "json") process.stdout.write(`${jsonText(ended, 2)}\n`);
  if (format === "stream-json") process.stdout.write(`${jsonText({ kind: "RunFailed", payload: ended })}\n`);
  return exitCode;
}

/** Reads the arguments themselves: the mistake may be in the flags. */
function jsonFormat(args: readonly string[]): string | undefined {
  const end = args.indexOf("--");
  const flags = end === -1 ? args : args.slice(0, end);
  if (flags.includes("--stream-events")) return "stream-json";
  const at = flags.findLastIndex((word) => /^--output-format(=|$)/.test(word));
  return at === -1 ? undefined : (flags[at]?.split("=")[1] ?? flags[at + 1]);
}
