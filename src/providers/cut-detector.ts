/**
 * Notices that a server has silently dropped a part of the prompt, by what it says it has read. Ollama does so, and servers of
 * Chat Completions with a rolling context; none of them tells.
 *
 * 1. A count is never compared with our estimate, which errs on purpose, but with what this model made of earlier requests; for
 *    a first one, with the fewest tokens that text of this size can have.
 */
import type { RequestSize } from "./request-size.js";

/** Text rarely takes fewer: long runs of spaces and common words do. */
const MOST_BYTES_PER_TOKEN = 8;
/** Requests of one session resemble each other; what differs more than this was not read. */
const TOLERANCE = 0.7;
/** Small ones are mostly marks around messages, of which nothing is known. */
const SMALLEST_BYTES = 4000;

export interface Reading {
  readonly size: RequestSize;
  /** Tokens of the prompt, cached ones included; 0 when the server does not tell. */
  readonly counted: number;
  readonly answered: number;
  /** What the server was asked to hold, where it can be asked. */
  readonly contextTokens?: number;
}

export class CutDetector {
  #tokensPerByte: number | undefined;

  /** As measured with this model; undefined before the first whole request. */
  get tokensPerByte(): number | undefined {
    return this.#tokensPerByte;
  }

  /** Whether a part of the prompt was dropped, before or during the answer. */
  wasCut(reading: Reading): boolean {
    const { size, counted, answered, contextTokens } = reading;
    if (counted <= 0) return false;
    if (contextTokens !== undefined && (counted >= contextTokens - 1 || counted + answered > contextTokens))
      return true;
    if (size.bytes < SMALLEST_BYTES) return false;
    const fewest = this.#tokensPerByte === undefined ? 1 / MOST_BYTES_PER_TOKEN : this.#tokensPerByte * TOLERANCE;
    if (counted < size.bytes * fewest) return true;
    // Images count in their own way and would spoil the ratio.
    if (size.images === 0) this.#tokensPerByte = counted / size.bytes;
    return false;
  }
}
