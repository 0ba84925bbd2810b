/**
 * JSON messages, one a line, from a program that may send anything.
 *
 * 1. Memory is bounded: a line over the limit ends the reading.
 * 2. A program that sends more within a time than a client can handle is stopped.
 */
import type { Clock } from "../../base/clock.js";
import { nestingOf } from "../../base/json-nesting.js";
import { FloodGuard, type FloodLimits, insteadOfDeep, MOST_MESSAGE_LEVELS } from "./flood-guard.js";

export interface LineReaderOptions {
  readonly clock: Clock;
  readonly onMessage: (message: unknown) => void;
  /** A line that is not a message: for the log. */
  readonly onNoise: (line: string) => void;
  /** Nothing more is read. Ends the sentence "The server …". */
  readonly onFlood: (problem: string) => void;
  readonly limits?: FloodLimits;
}

export class MessageLines {
  readonly #options: LineReaderOptions;
  readonly #guard: FloodGuard;
  #pieces: Buffer[] = [];
  #held = 0;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    const onFlood = (problem: string) => {
      this.#pieces = [];
      options.onFlood(problem);
    };
    this.#guard = new FloodGuard({ clock: options.clock, limits: options.limits, onFlood });
  }

  take(chunk: Buffer): void {
    if (!this.#guard.count("bytes", chunk.length)) return;
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      this.#pieces.push(chunk.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.#pieces).toString("utf8");
      this.#pieces = [];
      this.#held = 0;
      this.#line(line);
      if (this.#guard.problem !== undefined) return;
    }
    const rest = chunk.subarray(from);
    if (rest.length === 0 || !this.#guard.isLength(this.#held + rest.length)) return;
    this.#pieces.push(rest);
    this.#held += rest.length;
  }

  #line(written: string): void {
    const line = written.replace(/\r$/, "");
    if (line.trim() === "" || !this.#guard.count("messages", 1)) return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#options.onNoise(line);
      return;
    }
    if (nestingOf(line) > MOST_MESSAGE_LEVELS) {
      this.#options.onNoise("(a message that is nested too deep)");
      message = insteadOfDeep(message);
    }
    if (message !== undefined) this.#options.onMessage(message);
  }
}
