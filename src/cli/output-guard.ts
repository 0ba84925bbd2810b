/**
 * Standard output that cannot be written to: the reader went away, the disk is full, the terminal is gone.
 *
 * 1. The turn that runs hears of it and ends. Nothing is thrown.
 * 2. A reader that went away has had enough, so nothing is said to it. Any other problem is told once on standard error.
 * 3. The exit code is never 0: what the caller asked for did not arrive.
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

  /** What the program ends with when its work came to `code`. */
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
    // Standard error may fail as well, and then there is no place left to say it.
    process.stderr.on("error", () => {});
    guard = new OutputGuard(process.stdout, (message) => void process.stderr.write(`oxbow: ${message}\n`));
  }
  return guard;
}
