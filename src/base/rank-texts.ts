/** Ranks texts by the words of a query (BM25). Pure, so that the same texts give the same order. */

export interface RankedField {
  readonly words: readonly string[];
  /** The weight of a word here. */
  readonly weight: number;
}

export interface Match {
  readonly score: number;
  /** The words of the query that the text has. */
  readonly words: readonly string[];
}

const K = 1.2;
const B = 0.75;
/** A word that only begins like the one that is asked for. */
const BEGINS_ALIKE = 0.5;
/** From this length on. */
const LEAST_ALIKE = 5;
const MOST_LONGER = 5;

/** One match per text, in the order of the texts. A score of 0: no word is there. */
export function rankTexts(texts: readonly (readonly RankedField[])[], query: readonly string[]): readonly Match[] {
  const ranking = new Ranking(query);
  for (const fields of texts) ranking.add(fields);
  return ranking.matches();
}

/** The same for many texts: to add one is most of the work. */
export class Ranking {
  readonly #terms: readonly string[];
  readonly #texts: { readonly frequencies: readonly number[]; readonly length: number }[] = [];

  constructor(query: readonly string[]) {
    this.#terms = [...new Set(query)];
  }

  add(fields: readonly RankedField[]): void {
    const { counts, length } = countWords(fields);
    this.#texts.push({ frequencies: this.#terms.map((term) => frequencyOf(term, counts)), length });
  }

  /** In the order in which the texts were added. */
  matches(): readonly Match[] {
    const texts = this.#texts;
    const average = texts.reduce((sum, { length }) => sum + length, 0) / Math.max(1, texts.length) || 1;
    const weights = this.#terms.map((_, index) => {
      const holding = texts.filter(({ frequencies }) => (frequencies[index] ?? 0) > 0).length;
      return Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5));
    });
    return texts.map(({ frequencies, length }) => {
      let score = 0;
      const words: string[] = [];
      for (const [index, frequency] of frequencies.entries()) {
        if (frequency === 0) continue;
        words.push(this.#terms[index] ?? "");
        score += ((weights[index] ?? 0) * frequency * (K + 1)) / (frequency + K * (1 - B + (B * length) / average));
      }
      return { score, words };
    });
  }
}

interface Counted {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

function countWords(fields: readonly RankedField[]): Counted {
  const counts = new Map<string, number>();
  let length = 0;
  for (const { words, weight } of fields) {
    length += words.length;
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + weight);
  }
  return { counts, length };
}

function frequencyOf(term: string, counts: ReadonlyMap<string, number>): number {
  const exact = counts.get(term);
  if (exact !== undefined) return exact;
  if (term.length < LEAST_ALIKE) return 0;
  let best = 0;
  for (const [word, count] of counts) {
    const isAlike = word.length >= LEAST_ALIKE && Math.abs(word.length - term.length) <= MOST_LONGER;
    if (isAlike && (word.startsWith(term) || term.startsWith(word))) best = Math.max(best, count * BEGINS_ALIKE);
  }
  return best;
}
