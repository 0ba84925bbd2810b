/**
 * Detects that a server silently dropped a part of the prompt, by its token count. Ollama does so, and servers of
 * Chat Completions with a rolling context; none of them reports it.
 *
 * 1. The first whole request shows how the model's own tokenizer compares with the estimate. Until then only a count far below the
 *    estimate means that the server cut the prompt.
 */

/** Few texts take less than half of the estimated tokens: only long runs of one character. */
const FEWEST = 0.5;
/** Requests of one session resemble each other; a larger difference means that the server did not read everything. */
const TOLERANCE = 0.7;
/** Smaller requests are mostly the markers around messages, and those differ between models. */
const SMALLEST = 1000;

export interface Reading {
  /** Estimated tokens of the prompt, without images. */
  readonly estimated: number;
  readonly hasImages: boolean;
  /** Tokens of the prompt, with cached ones; 0 if the server does not report them. */
  readonly counted: number;
  readonly answered: number;
  /** The context size that the request set, if the protocol can set it. */
  readonly contextTokens?: number;
}

export class CutDetector {
  #ratio: number | undefined;

  /** Counted tokens per estimated token; undefined before the first whole request. */
  get ratio(): number | undefined {
    return this.#ratio;
  }

  /** Tells whether a part of the prompt was dropped, before or during the answer. */
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
