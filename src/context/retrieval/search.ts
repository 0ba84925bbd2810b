/**
 * Search in a store: by words and, where there are vectors, by meaning.
 *
 * 1. Both give scores; `fuseScores` makes one order of them.
 * 2. A chunk that has too little to do with the question is not found: by its cosine, or without a vector by the share of the
 *    question's words that it contains.
 * 3. If the model does not answer, words alone decide, and `problem` says why.
 */
import type { Embedder } from "../../base/embedder.js";
import { fuseScores } from "../../base/fuse-scores.js";
import { normalized } from "./quantize.js";
import { otherDimensions, type RetrievalStore } from "./retrieval-store.js";
import type { StoredChunk } from "./store-types.js";
import type { NearChunk } from "./vector-index.js";
import { coverage } from "./word-index.js";

export interface SearchOptions {
  /** Absent: words alone. */
  readonly embedder?: Embedder | undefined;
  /** Says how many chunks at most. */
  readonly top?: number;
  /** The least cosine, or share of words. */
  readonly minimum?: number;
  readonly by?: "words" | "vectors" | "both";
  /** Says how much vectors count beside words, from 0 to 1. */
  readonly meaning?: number;
  readonly signal?: AbortSignal;
}

export interface FoundChunk extends StoredChunk {
  /** The cosine if the chunk has a vector, otherwise the share of the words. */
  readonly score: number;
  readonly scored: "cosine" | "words";
}

export interface SearchResult {
  readonly found: readonly FoundChunk[];
  /** The reason why the search used words alone although the store has vectors. */
  readonly problem?: string;
}

const USUAL_TOP = 5;
const USUAL_MINIMUM = 0.3;
/** Sets how many of each take part in the common order. */
const DEPTH = 50;
/** A long input is a document, not a question; its beginning says what it is about. */
const MOST_QUESTION = 2000;

export async function searchStore(
  store: RetrievalStore,
  question: string,
  options: SearchOptions = {},
): Promise<SearchResult> {
  const text = question.slice(0, MOST_QUESTION);
  if (text.trim() === "") return { found: [] };
  const asked = options.by === "words" ? {} : await embedded(store, text, options);
  const found = store.snapshot(() => rank(store, { ...options, text, vector: asked.vector }));
  return { found, ...(asked.problem !== undefined && { problem: asked.problem }) };
}

async function embedded(
  store: RetrievalStore,
  text: string,
  { embedder, signal }: SearchOptions,
): Promise<{ readonly vector?: Float32Array; readonly problem?: string }> {
  const { binding } = store;
  if (embedder === undefined || binding?.dimensions === undefined) return {};
  try {
    const [vector] = await embedder.embed([`${binding.question}${text}`], signal);
    if (vector === undefined) return { problem: "it gave no vector" };
    if (vector.length !== binding.dimensions) throw otherDimensions(binding.dimensions, vector.length);
    const unit = normalized(vector);
    return unit.some((value) => value !== 0) ? { vector: unit } : { problem: "it gave a vector without a direction" };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { problem: (error as Error).message };
  }
}

interface Ranking extends SearchOptions {
  readonly text: string;
  readonly vector: Float32Array | undefined;
}

function rank(store: RetrievalStore, ranking: Ranking): readonly FoundChunk[] {
  const { text: asked, vector, by = "both", top = USUAL_TOP, minimum = USUAL_MINIMUM } = ranking;
  const depth = Math.max(DEPTH, top * 2);
  const question = store.words.question(asked, store.version);
  const byWords = by === "vectors" ? [] : store.words.best(question, depth);
  const near = vector === undefined ? [] : store.vectors.nearest(vector, depth, store.version);
  const cosines = new Map(near.map((one) => [one.chunk, one.cosine]));
  if (vector !== undefined) {
    const rest = byWords.filter(({ chunk }) => !cosines.has(chunk)).map(({ chunk }) => chunk);
    for (const one of store.vectors.cosines(vector, rest)) cosines.set(one.chunk, one.cosine);
  }
  const fused = fuseScores(
    byWords.map(({ chunk, score }) => ({ key: chunk, score })),
    [...cosines].map(([key, score]) => ({ key, score })),
    ranking.meaning,
  ).map(({ key }) => key);
  const likely = fused.filter((id) => (cosines.get(id) ?? 1) >= minimum);
  const found: FoundChunk[] = [];
  // Mostly the first ones are good enough, so the others need not be read.
  for (let at = 0; at < likely.length && found.length < top; at += top) {
    const chunks = scored(store, likely.slice(at, at + top), {
      cosines,
      wordsOf: (chunk) => coverage(question, chunk),
    });
    for (const chunk of chunks) {
      // Copies of a file, or the same licence in many, say nothing more.
      const isCopy = found.some(({ text }) => text === chunk.text);
      if (chunk.score >= minimum && !isCopy) found.push(chunk);
    }
  }
  return found.slice(0, top);
}

/** In the same order. */
function scored(
  store: RetrievalStore,
  ids: readonly number[],
  { cosines, wordsOf }: { readonly cosines: ReadonlyMap<number, NearChunk["cosine"]>; wordsOf(text: string): number },
): readonly FoundChunk[] {
  const chunks = new Map(store.chunks(ids).map((chunk) => [chunk.id, chunk]));
  return ids.flatMap((id) => {
    const chunk = chunks.get(id);
    if (chunk === undefined) return [];
    const cosine = cosines.get(id);
    const score = cosine ?? wordsOf(`${chunk.title}\n${chunk.text}`);
    return [{ ...chunk, score, scored: cosine === undefined ? "words" : "cosine" } as const];
  });
}
