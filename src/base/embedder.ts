/** A port to a model that turns texts into vectors. `runtime` supplies one if the user has chosen such a model. */
export interface Embedder {
  /** The model with its provider, for instance `ollama:nomic-embed-text`. Vectors of different models cannot be compared. */
  readonly model: string;
  /** One vector of unit length for each text, in the same order. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]>;
}
