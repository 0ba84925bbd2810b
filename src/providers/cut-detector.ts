/**
 * Detects that a server silently dropped a part of the prompt, by its token count. Ollama does so, and servers of
 * Chat Completions with a rolling context; none of them reports it.
 *
 * 1. How a model's own tokenizer compares with the estimate is measured with its first whole request. Until then a count has to be
 *    far below the estimate to mean anything.
 */

/** Text that takes less than half of what is estimated is rare: long runs of one character. */
const FEWEST = 0.5;
/** Requests of one session resemble each other; what differs more than this was not read. */
const TOLERANCE = 0.7;
/** Small ones are mostly marks around messages, of which nothing is known. */
const SMALLEST = 1000;

export interface Reading {
  /** Estimated tokens of the prompt, without images. */
  readonly estimated: number;
  readonly hasImages: boolean;
  /** Tokens of the prompt, with cached ones; 0 if the server does not report them. */
  readonly counted: number;
  readonly answered: number;
  /** What the server was asked to hold, where it can be asked. */
  readonly contextTokens?: number;
}

export class CutDetector {
  #ratio: number | undefined;

  /** Tokens that this model counts for each that is estimated; undefined before the first whole request. */
  get ratio(): number | undefined {
    return this.#ratio;
  }

  /** Whether a part of the prompt was dropped, before or during the answer. */
  wasCut(reading: Reading): boolean {
    const { estimated, hasImages, counted, answered, contextTokens } = reading;
    if (counted <= 0) return false;
    if (contextTokens !== undefined && (counted >= contextTokens - 1 || counted + answered > contextTokens))
      return true;
    if (estimated < SMALLEST) return false;
    const fewest = this.#ratio === undefined ? FEWEST : this.#ratio * TOLERANCE;
    if (counted < estimated * fewest) return true;
    // Images count differently and would distort the ratio.
    if (!hasImages) this.#ratio = counted / estimated;
    return false;
  }
}
