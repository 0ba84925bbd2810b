/**
 * Describes how much context a local model gets (`num_ctx`).
 *
 * 1. It holds the whole request and room for the answer, as far as the model, the memory and the settings allow.
 * 2. Within a session it only grows, and in doublings: for every new size the server reloads the model.
 * 3. A size the model already runs with is kept when it is enough.
 */
export type ContextLimit = "setting" | "model" | "memory";

export interface ContextLimits {
  /** Exactly this size, from the user's settings. */
  readonly fixed?: number;
  /** The maximum of the model. */
  readonly model?: number;
  /** Holds what fits into memory, by estimate. */
  readonly memory?: number;
  /** Holds what the model is running with now. */
  readonly loaded?: number;
}

const SMALLEST = 4096;

/** The smallest step that holds `needed` tokens. */
export function contextStep(needed: number, most = Number.POSITIVE_INFINITY): number {
  let size = SMALLEST;
  while (size < needed) size *= 2;
  return Math.min(size, most);
}

export class ContextWindow {
  readonly #limits: ContextLimits;
  #size = 0;

  constructor(limits: ContextLimits) {
    this.#limits = limits;
  }

  sizeFor(needed: number): number {
    const { fixed, model = Number.POSITIVE_INFINITY, loaded } = this.#limits;
    if (fixed !== undefined) return Math.min(fixed, model);
    if (this.#size === 0 && loaded !== undefined && loaded >= needed) this.#size = loaded;
    this.#size = Math.max(this.#size, contextStep(needed, this.most));
    return this.#size;
  }

  /** The maximum. An estimate of the memory never gives less than the smallest step. */
  get most(): number {
    const { fixed, model = Number.POSITIVE_INFINITY, memory = Number.POSITIVE_INFINITY } = this.#limits;
    return Math.min(model, fixed ?? Math.max(memory, SMALLEST));
  }

  /** The reason for the maximum. */
  get limit(): ContextLimit {
    const { fixed, model } = this.#limits;
    if (model !== undefined && model <= this.most) return "model";
    return fixed === undefined ? "memory" : "setting";
  }
}
