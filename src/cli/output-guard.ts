/**
 * Handles failing standard output: the reader closed the pipe, the disk is full, the terminal is closed.
 *
 * 1. The running turn is cancelled. Nothing is thrown.
 * 2. A closed pipe is normal, so there is no message. Any other problem is reported once on standard error.
 * 3. The exit code is never 0: the caller did not get the answer.
 */
import { EXIT } from "./exit-codes.js";

export class OutputGuard {
  #problem: NodeJS.ErrnoException | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(stdout: NodeJS.EventEmitter, notify: (message: string) => void) {
    stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (this.#problem !== undefined) return;
      this.#problem = error;
      if (!this.readerGone) notify(`cannot write to standard output: ${describe(error)}.`);
      for (const listener of this.#listeners) listener();
    });
  }

  get failed(): boolean {
    return this.#problem !== undefined;
  }

  get readerGone(): boolean {
    return this.#problem?.code === "EPIPE";
  }

  onProblem(listener: () => void): void {
    this.#listeners.add(listener);
    if (this.failed) listener();
  }

  /** The exit code of the program for the result `code`. */
  exitCode(code: number): number {
    if (!this.failed || (code !== EXIT.answered && code !== EXIT.cancelled)) return code;
    return this.readerGone ? EXIT.cancelled : EXIT.failed;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: "no space is left on the device",
  EIO: "the device does not answer (the terminal may be closed)",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be larger than allowed",
  EBADF: "it is closed",
};

function describe({ code, message }: NodeJS.ErrnoException): string {
  return (code && WORDS[code]) ?? message;
}

let guard: OutputGuard | undefined;

/** The one guard of this process. */
export function outputGuard(): OutputGuard {
  if (guard === undefined) {
    // Standard error may fail as well; then there is nowhere to report it.
    process.stderr.on("error", () => {});
    guard = new OutputGuard(process.stdout, (message) => void process.stderr.write(`oxbow: ${message}\n`));
  }
  return guard;
}
