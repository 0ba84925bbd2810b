/**
 * Describes how much a server may send, whatever carries its messages. A server beyond this is cut off: reading on would fill the memory or keep
 * the program busy.
 */
import type { Clock } from "../../base/clock.js";
import { MOST_ARGUMENT_LEVELS } from "../../base/json-nesting.js";

export interface FloodLimits {
  /** Of one message. */
  readonly messageBytes: number;
  /** The others count within this time. */
  readonly windowMs: number;
  readonly messages: number;
  readonly bytes: number;
  /** Requests that the server makes the client send: a stream that ends at once is opened again. */
  readonly requests: number;
}

const FLOOD_LIMITS: FloodLimits = {
  messageBytes: 16 * 1024 * 1024,
  windowMs: 10_000,
  messages: 20_000,
  bytes: 128 * 1024 * 1024,
  requests: 2000,
};

/** Structures deeper than a model's arguments, because results are wrapped in messages. */
export const MOST_MESSAGE_LEVELS = MOST_ARGUMENT_LEVELS + 32;

export interface FloodGuardOptions {
  readonly clock: Clock;
  readonly limits?: FloodLimits | undefined;
  /** Called once. Ends the sentence "The server …". */
  readonly onFlood: (problem: string) => void;
}

type Counted = "messages" | "bytes" | "requests";

const PROBLEMS: Readonly<Record<Counted, string>> = {
  messages: "sent more messages than a client can handle",
  bytes: "sent more messages than a client can handle",
  requests: "closes its streams too often",
};

export class FloodGuard {
  readonly #options: FloodGuardOptions;
  readonly limits: FloodLimits;
  #from: number;
  #counts = { messages: 0, bytes: 0, requests: 0 };
  #problem: string | undefined;

  constructor(options: FloodGuardOptions) {
    this.#options = options;
    this.limits = options.limits ?? FLOOD_LIMITS;
    this.#from = options.clock.now();
  }

  /** Tells why nothing more is read. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** False if that was too much. */
  count(what: Counted, number: number): boolean {
    if (this.#problem !== undefined) return false;
    const now = this.#options.clock.now();
    if (now - this.#from > this.limits.windowMs) {
      this.#from = now;
      this.#counts = { messages: 0, bytes: 0, requests: 0 };
    }
    this.#counts[what] += number;
    return this.#counts[what] <= this.limits[what] || this.#cut(PROBLEMS[what]);
  }

  /** `bytes`: of a message that has not ended. */
  isLength(bytes: number): boolean {
    if (this.#problem !== undefined) return false;
    return bytes <= this.limits.messageBytes || this.#cut("sent a message that is too long");
  }

  #cut(problem: string): false {
    this.#problem = problem;
    this.#options.onFlood(problem);
    return false;
  }
}

/** Instead of an answer that is nested too deep, so that the request need not wait for its time limit; undefined for other messages. */
export function insteadOfDeep(message: unknown): unknown {
  const { id, result, error } = (typeof message === "object" && message !== null ? message : {}) as {
    readonly id?: unknown;
    readonly result?: unknown;
    readonly error?: unknown;
  };
  if (id === undefined || (result === undefined && error === undefined)) return undefined;
  return { jsonrpc: "2.0", id, error: { code: -32603, message: "The answer is nested too deep." } };
}
