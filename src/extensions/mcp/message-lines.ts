/**
 * JSON messages, one a line, from a program that may send anything.
 *
 * 1. Memory is bounded: a line over the limit ends the reading.
 * 2. A program that sends more within a time than a client can handle is stopped.
 */
import type { Clock } from "../../base/clock.js";
import { MOST_ARGUMENT_LEVELS, nestingOf } from "../../base/json-nesting.js";

export interface LineLimits {
  readonly lineBytes: number;
  readonly windowMs: number;
  readonly messages: number;
  readonly bytes: number;
}

export const LINE_LIMITS: LineLimits = {
  lineBytes: 16 * 1024 * 1024,
  windowMs: 10_000,
  messages: 20_000,
  bytes: 128 * 1024 * 1024,
};

/** Structures deeper than a model's arguments, because results are wrapped in messages. */
const MOST_LEVELS = MOST_ARGUMENT_LEVELS + 32;

export interface LineReaderOptions {
  readonly clock: Clock;
  readonly onMessage: (message: unknown) => void;
  /** A line that is not a message: for the log. */
  readonly onNoise: (line: string) => void;
  /** Nothing more is read. Ends the sentence "The server …". */
  readonly onFlood: (problem: string) => void;
  readonly limits?: LineLimits;
}

export class MessageLines {
  readonly #options: LineReaderOptions;
  readonly #limits: LineLimits;
  #pieces: Buffer[] = [];
  #held = 0;
  #windowFrom = 0;
  #messages = 0;
  #bytes = 0;
  #isOver = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    this.#limits = options.limits ?? LINE_LIMITS;
    this.#windowFrom = options.clock.now();
  }

  take(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#count(0, chunk.length);
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0 && !this.#isOver; at = chunk.indexOf(10, from)) {
      this.#pieces.push(chunk.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.#pieces).toString("utf8");
      this.#pieces = [];
      this.#held = 0;
      this.#line(line);
    }
    if (this.#isOver) return;
    const rest = chunk.subarray(from);
    if (rest.length === 0) return;
    this.#pieces.push(rest);
    this.#held += rest.length;
    if (this.#held > this.#limits.lineBytes) this.#flood("sent a message that is too long");
  }

  #line(written: string): void {
    const line = written.replace(/\r$/, "");
    if (line.trim() === "") return;
    this.#count(1, 0);
    if (this.#isOver) return;
    if (nestingOf(line) > MOST_LEVELS) {
      this.#options.onNoise("(a message that is nested too deep)");
      return;
    }
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#options.onNoise(line);
      return;
    }
    this.#options.onMessage(message);
  }

  #count(messages: number, bytes: number): void {
    const now = this.#options.clock.now();
    if (now - this.#windowFrom > this.#limits.windowMs) {
      this.#windowFrom = now;
      this.#messages = 0;
      this.#bytes = 0;
    }
    this.#messages += messages;
    this.#bytes += bytes;
    if (this.#messages > this.#limits.messages || this.#bytes > this.#limits.bytes)
      this.#flood("sent more messages than a client can handle");
  }

  #flood(problem: string): void {
    this.#isOver = true;
    this.#pieces = [];
    this.#options.onFlood(problem);
  }
}
