/**
 * Finds chunks by their words (BM25).
 *
 * 1. The time of a search is bounded: frequent words are left out when together they occur in more chunks than BUDGET. They say the least.
 * 2. `coverage` is the share of a question's words that a chunk contains, rare words counting more. It needs no model, so it decides what is worth
 *    showing where there are no vectors.
 */
import type { Database } from "../../system/sqlite/database.js";
import { indexWords, questionWords } from "../words/index-words.js";

/** A question as the index takes it. */
export interface Question {
  readonly words: readonly WeighedWord[];
}

interface WeighedWord {
  readonly word: string;
  /** The number of chunks that contain it. */
  readonly chunks: number;
  readonly weight: number;
}

const BUDGET = 20_000;
const MOST_WORDS = 32;

export class WordIndex {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  add(chunk: number, { title, text }: { readonly title: string; readonly text: string }): void {
    this.#database.run("INSERT INTO chunk_words (rowid, title, content) VALUES (?, ?, ?)", [
      chunk,
      indexWords(title).join(" "),
      indexWords(text).join(" "),
    ]);
  }

  question(text: string): Question {
    const total = this.#database.first({ count: ["integer", "count(*)"] }, "FROM chunks")?.count ?? 0;
    const words = questionWords(text)
      .slice(0, MOST_WORDS * 4)
      .map((word) => {
        const chunks = this.#database.first({ doc: "integer" }, "FROM word_counts WHERE term = ?", [word])?.doc ?? 0;
        return { word, chunks, weight: Math.log(1 + (total - chunks + 0.5) / (chunks + 0.5)) };
      });
    return { words: words.sort((one, other) => one.chunks - other.chunks).slice(0, MOST_WORDS) };
  }

  /** The ids of the best chunks, best first. */
  best({ words }: Question, most: number): readonly number[] {
    const searched: string[] = [];
    let cost = 0;
    for (const { word, chunks } of words) {
      if (chunks === 0) continue;
      cost += chunks;
      if (searched.length > 0 && cost > BUDGET) break;
      searched.push(`"${word}"`);
    }
    if (searched.length === 0) return [];
    const rows = this.#database.select(
      { chunk: ["integer", "rowid"] },
      "FROM chunk_words WHERE chunk_words MATCH ? ORDER BY rank LIMIT ?",
      [searched.join(" OR "), most],
    );
    return rows.map(({ chunk }) => chunk);
  }
}

export function coverage({ words }: Question, text: string): number {
  const own = new Set(indexWords(text));
  const sum = (some: readonly WeighedWord[]) => some.reduce((total, { weight }) => total + weight, 0);
  const all = sum(words);
  return all === 0 ? 0 : sum(words.filter(({ word }) => own.has(word))) / all;
}
