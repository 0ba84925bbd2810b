/**
 * Finds chunks by their words (BM25).
 *
 * 1. The time of a search is bounded: frequent words are left out when together they occur in more chunks than BUDGET. They say the least. If
 *    even the rarest word occurs in more, its chunks have no order worth the time.
 * 2. `coverage` is the share of a question's words that a chunk contains, rare words counting more. It needs no model, so it decides what is worth
 *    showing where there are no vectors.
 */

import { indexWords, questionWords } from "../../base/words/index-words.js";
import type { Database } from "../../system/sqlite/database.js";

/** A question as the index takes it. */
export interface Question {
  readonly words: readonly WeighedWord[];
}

export interface WordMatch {
  readonly chunk: number;
  readonly score: number;
}

interface WeighedWord {
  readonly word: string;
  /** The number of chunks that contain it. */
  readonly chunks: number;
  readonly weight: number;
}

const BUDGET = 6000;
const MOST_WORDS = 32;
const MOST_COUNTS = 10_000;
/** Ranks are read as whole numbers. SQLite gives the best the lowest one. */
const PRECISION = 1_000_000;
/** Chunks that are read at once. */
const PORTION = 1000;

export class WordIndex {
  readonly #database: Database;
  /** Says how many chunks contain a word, as of `#version`. */
  readonly #counts = new Map<string, number>();
  #version = -1;

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

  reindex(): void {
    this.#database.run("INSERT INTO chunk_words (chunk_words) VALUES ('delete-all')");
    const chunk = { id: "integer", title: "text", text: ["text", "content"] } as const;
    for (let last = 0; ; ) {
      const rows = this.#database.select(chunk, "FROM chunks WHERE id > ? ORDER BY id LIMIT ?", [last, PORTION]);
      for (const row of rows) this.add(row.id, row);
      last = rows.at(-1)?.id ?? last;
      if (rows.length < PORTION) return;
    }
  }

  /** `version` is the state of the store. */
  question(text: string, version: number): Question {
    if (version !== this.#version || this.#counts.size > MOST_COUNTS) this.#counts.clear();
    this.#version = version;
    const total = this.#database.first({ count: ["integer", "count(*)"] }, "FROM chunks")?.count ?? 0;
    const words = questionWords(text)
      .slice(0, MOST_WORDS * 4)
      .map((word) => {
        const chunks = this.#count(word);
        return { word, chunks, weight: Math.log(1 + (total - chunks + 0.5) / (chunks + 0.5)) };
      });
    return { words: words.sort((one, other) => one.chunks - other.chunks).slice(0, MOST_WORDS) };
  }

  #count(word: string): number {
    let count = this.#counts.get(word);
    if (count === undefined) {
      const matching = "FROM chunk_words WHERE chunk_words MATCH ?";
      count = this.#database.first({ count: ["integer", "count(*)"] }, matching, [`"${word}"`])?.count ?? 0;
      this.#counts.set(word, count);
    }
    return count;
  }

  /** The best chunks, best first; the scores are those of BM25. */
  best({ words }: Question, most: number): readonly WordMatch[] {
    const searched: string[] = [];
    let cost = 0;
    for (const { word, chunks } of words) {
      if (chunks === 0) continue;
      if (searched.length > 0 && cost + chunks > BUDGET) break;
      cost += chunks;
      searched.push(`"${word}"`);
    }
    if (searched.length === 0) return [];
    const rows = this.#database.select(
      { chunk: ["integer", "rowid"], rank: ["integer", `-rank * ${PRECISION}`] },
      `FROM chunk_words WHERE chunk_words MATCH ? ${cost > BUDGET && searched.length === 1 ? "" : "ORDER BY rank"} LIMIT ?`,
      [searched.join(" OR "), most],
    );
    return rows.map(({ chunk, rank }) => ({ chunk, score: rank / PRECISION }));
  }
}

export function coverage({ words }: Question, text: string): number {
  const own = new Set(indexWords(text));
  const sum = (some: readonly WeighedWord[]) => some.reduce((total, { weight }) => total + weight, 0);
  const all = sum(words);
  return all === 0 ? 0 : sum(words.filter(({ word }) => own.has(word))) / all;
}
