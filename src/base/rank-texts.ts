/** Ranks texts by the words of a query (BM25). Pure, so that the same texts give the same order. */

export interface RankedField {
  readonly words: readonly string[];
  /** How much a word counts here. */
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
  const terms = [...new Set(query)];
  const counted = texts.map(countWords);
  const average = counted.reduce((sum, { length }) => sum + length, 0) / Math.max(1, counted.length) || 1;
  const frequencies = terms.map((term) => counted.map(({ counts }) => frequencyOf(term, counts)));
  const weights = frequencies.map((each) => {
    const holding = each.filter((frequency) => frequency > 0).length;
    return Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5));
  });
  return counted.map(({ length }, at) => {
    let score = 0;
    const words: string[] = [];
    for (const [index, term] of terms.entries()) {
      const frequency = frequencies[index]?.[at] ?? 0;
      if (frequency === 0) continue;
      words.push(term);
      score += ((weights[index] ?? 0) * frequency * (K + 1)) / (frequency + K * (1 - B + (B * length) / average));
    }
    return { score, words };
  });
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
