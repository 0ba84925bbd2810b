/**
 * Finds passages of logs by their words, and by their meaning where there is an embedding model; the best first. For any store: it reads
 * what `events` gives.
 *
 * 1. A passage needs one word of the query at least. Those with more of them, and with rarer ones, come first (BM25).
 * 2. With an embedder the newest passages also compete by meaning; `fuseScores` joins the two. If it fails, words decide.
 * 3. Of one turn at most two passages are found, so that one long output does not hide the rest.
 * 4. Memory stays bounded however long the logs are.
 */
import type { Embedder } from "../base/embedder.js";
import { fuseScores } from "../base/fuse-scores.js";
import { Ranking } from "../base/rank-texts.js";
import { tellingWords } from "../base/words/index-words.js";
import type { SessionId } from "../protocol/ids.js";
import { Breath } from "./breath.js";
import { type Passage, type PassageKind, PassageReader } from "./passages.js";
import { checkQuery, FOLDING, fold } from "./search-query.js";
import { type SessionRecord, type SessionStore, StoreError } from "./store.js";

export interface RecallHit extends Passage {
  readonly session: SessionId;
  readonly title?: string;
  /** The words of the query that it has, as stems. */
  readonly words: readonly string[];
  readonly score: number;
}

export interface RecallRange {
  readonly record: SessionRecord;
  /** Only events before this one. */
  readonly before?: number | undefined;
}

export interface RecallOptions {
  readonly limit?: number;
  readonly kinds?: ReadonlySet<PassageKind>;
  /** Times as ISO texts. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly embedder?: Pick<Embedder, "embed"> | undefined;
  readonly signal?: AbortSignal;
  onProgress?(progress: { readonly sessions: number; readonly of: number }): void;
  onUnreadable?(session: SessionId, message: string): void;
  /** Each must be in a passage, and none of the others. */
  readonly phrases?: readonly RegExp[];
  readonly unwanted?: readonly RegExp[];
  /** The embedding model failed. */
  onWordsOnly?(reason: string): void;
}

type Found = Omit<RecallHit, "words" | "score">;

const LIMIT = 8;
const PER_TURN = 2;
const MOST_CANDIDATES = 2_000;
/** So many newest passages compete by meaning. */
const MOST_EMBEDDED = 300;
const LEAST_SIMILAR = 0.3;
/** To stem the words of a text takes as long as so many comparisons for each character. */
const STEMMING = 64;
const SHORTEST_STEM = 3;

export async function recallPassages(
  store: Pick<SessionStore, "events">,
  { query, ranges }: { readonly query: string; readonly ranges: readonly RecallRange[] },
  options: RecallOptions = {},
): Promise<readonly RecallHit[]> {
  checkQuery(query);
  const terms = [...new Set(tellingWords(query))];
  const gathering = new Gathering(terms, options);
  for (const [at, range] of ranges.entries()) {
    options.onProgress?.({ sessions: at, of: ranges.length });
    await readRange(store, range, gathering, options);
  }
  const byWords = await rankByWords(gathering.candidates, terms);
  const byMeaning = await rankByMeaning(gathering.newest, query, options);
  return fewPerTurn(joined(byWords, byMeaning), options.limit ?? LIMIT);
}

async function readRange(
  store: Pick<SessionStore, "events">,
  { record, before }: RecallRange,
  gathering: Gathering,
  { signal, onUnreadable }: RecallOptions,
): Promise<void> {
  const reader = new PassageReader();
  const about = { session: record.id, ...(record.title !== undefined && { title: record.title }) };
  const range = before === undefined ? {} : { limit: before - 1 };
  const breath = new Breath();
  const add = async (passage: Passage) => {
    await breath.after(passage.text.length * gathering.workOfCharacter);
    gathering.add({ ...about, ...passage });
  };
  try {
    signal?.throwIfAborted();
    for await (const event of store.events(record.id, range)) {
      await breath.after(0);
      for (const passage of reader.take(event)) await add(passage);
      signal?.throwIfAborted();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof StoreError)) throw error;
    onUnreadable?.(record.id, error.message);
  }
  for (const passage of reader.end()) await add(passage);
}

/** Keeps what may be found. */
class Gathering {
  /** A stem may end otherwise than the word: `query` of `queries`. */
  readonly #beginnings: readonly string[];
  readonly #options: RecallOptions;
  readonly workOfCharacter: number;
  #candidates: { readonly found: Found; readonly terms: number }[] = [];
  #newest: Found[] = [];

  constructor(terms: readonly string[], options: RecallOptions) {
    this.#beginnings = terms.map((term) => fold(term.length > SHORTEST_STEM ? term.slice(0, -1) : term));
    this.#options = options;
    const { phrases = [], unwanted = [] } = options;
    const patterns = [...this.#beginnings, ...[...phrases, ...unwanted].map(({ source }) => source)];
    this.workOfCharacter = patterns.reduce((sum, { length }) => sum + length, FOLDING);
  }

  add(found: Found): void {
    const { kinds, since, until, embedder, phrases = [], unwanted = [] } = this.#options;
    if (kinds?.has(found.kind) === false) return;
    if ((since !== undefined && found.ts < since) || (until !== undefined && found.ts >= until)) return;
    const folded = fold(found.text);
    if (phrases.some((phrase) => folded.search(phrase) < 0) || unwanted.some((term) => folded.search(term) >= 0))
      return;
    if (embedder !== undefined) this.#remember(found);
    const terms = this.#beginnings.filter((beginning) => folded.includes(beginning)).length;
    if (terms === 0) return;
    this.#candidates.push({ found, terms });
    if (this.#candidates.length >= 2 * MOST_CANDIDATES) this.#candidates = best(this.#candidates);
  }

  get candidates(): readonly Found[] {
    return best(this.#candidates).map(({ found }) => found);
  }

  get newest(): readonly Found[] {
    return newestOf(this.#newest);
  }

  #remember(found: Found): void {
    this.#newest.push(found);
    if (this.#newest.length >= 2 * MOST_EMBEDDED) this.#newest = newestOf(this.#newest);
  }
}

function best<C extends { readonly terms: number; readonly found: Found }>(candidates: readonly C[]): C[] {
  const sorted = [...candidates].sort((a, b) => b.terms - a.terms || newer(a.found, b.found));
  return sorted.slice(0, MOST_CANDIDATES);
}

function newestOf(found: readonly Found[]): Found[] {
  return [...found].sort(newer).slice(0, MOST_EMBEDDED);
}

function newer(a: Found, b: Found): number {
  return a.ts === b.ts ? b.event - a.event : a.ts < b.ts ? 1 : -1;
}

async function rankByWords(candidates: readonly Found[], terms: readonly string[]): Promise<readonly RecallHit[]> {
  const ranking = new Ranking(terms);
  const breath = new Breath();
  for (const { text } of candidates) {
    await breath.after(text.length * (STEMMING + terms.length));
    ranking.add([{ words: tellingWords(text), weight: 1 }]);
  }
  const hits = ranking.matches().map((match, at): RecallHit => ({ ...(candidates[at] as Found), ...match }));
  return hits.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || newer(a, b));
}

async function rankByMeaning(
  passages: readonly Found[],
  query: string,
  { embedder, signal, onWordsOnly }: RecallOptions,
): Promise<readonly RecallHit[]> {
  if (embedder === undefined || passages.length === 0) return [];
  try {
    const [wanted, ...vectors] = await embedder.embed([query, ...passages.map(({ text }) => text)], signal);
    if (wanted === undefined) return [];
    const hits = passages.map(
      (found, at): RecallHit => ({ ...found, words: [], score: similarity(wanted, vectors[at]) }),
    );
    return hits.filter(({ score }) => score >= LEAST_SIMILAR).sort((a, b) => b.score - a.score || newer(a, b));
  } catch (error) {
    signal?.throwIfAborted();
    onWordsOnly?.(error instanceof Error ? error.message : String(error));
    return [];
  }
}

/** Of vectors of unit length. */
function similarity(one: Float32Array, other: Float32Array | undefined): number {
  if (other === undefined || other.length !== one.length) return 0;
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

function joined(byWords: readonly RecallHit[], byMeaning: readonly RecallHit[]): readonly RecallHit[] {
  if (byMeaning.length === 0) return byWords;
  const keyOf = ({ session, event, text }: RecallHit) => `${session} ${event} ${text}`;
  const hits = new Map([...byMeaning, ...byWords].map((hit) => [keyOf(hit), hit]));
  const scored = (list: readonly RecallHit[]) => list.map((hit) => ({ key: keyOf(hit), score: hit.score }));
  const fused = fuseScores(scored(byWords), scored(byMeaning));
  return fused.map(({ key, score }) => ({ ...(hits.get(key) as RecallHit), score }));
}

function fewPerTurn(hits: readonly RecallHit[], limit: number): readonly RecallHit[] {
  const counts = new Map<string, number>();
  const kept: RecallHit[] = [];
  for (const hit of hits) {
    const turn = `${hit.session} ${hit.turn}`;
    const count = counts.get(turn) ?? 0;
    if (count >= PER_TURN) continue;
    counts.set(turn, count + 1);
    kept.push(hit);
    if (kept.length >= limit) break;
  }
  return kept;
}
