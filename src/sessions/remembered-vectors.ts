/** An embedder that does not send the same text twice: the passages of a session are mostly the same from one search to the next. */
import type { Embedder } from "../base/embedder.js";

const MOST = 2_000;

export class RememberedVectors implements Embedder {
  readonly model: string;
  readonly #embedder: Embedder;
  readonly #vectors = new Map<string, Float32Array>();

  constructor(embedder: Embedder) {
    this.model = embedder.model;
    this.#embedder = embedder;
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    const fresh = [...new Set(texts)].filter((text) => !this.#vectors.has(text));
    const vectors = fresh.length === 0 ? [] : await this.#embedder.embed(fresh, signal);
    const known = new Map(this.#vectors);
    if (known.size + fresh.length > MOST) this.#vectors.clear();
    for (const [at, text] of fresh.entries()) {
      const vector = vectors[at];
      if (vector === undefined) continue;
      known.set(text, vector);
      this.#vectors.set(text, vector);
    }
    return texts.map((text) => known.get(text) ?? new Float32Array());
  }
}
