/**
 * One order from two that were found by words and by meaning.
 *
 * 1. Scores of the two do not compare, so each is measured in standard deviations from the mean of the candidates (z-scores). Unlike ranks, they
 *    keep how far a candidate stands out from the others.
 * 2. A candidate that only one of them found has at most the lowest score that the other one gave.
 */

export interface Scored<K> {
  readonly key: K;
  readonly score: number;
}

/** The weight of meaning; the rest is that of words. With small embedding models words are the surer sign (docs/design/retrieval.md has figures). */
const USUAL_MEANING = 0.4;

/** Best first; equal ones in the order of the words, then of the meaning. */
export function fuseScores<K>(
  byWords: readonly Scored<K>[],
  byMeaning: readonly Scored<K>[],
  meaning = USUAL_MEANING,
): readonly Scored<K>[] {
  const keys = [...new Set([...byWords, ...byMeaning].map(({ key }) => key))];
  const [words, meanings] = [byWords, byMeaning].map((list) => deviations(keys, list)) as [number[], number[]];
  return keys
    .map((key, i) => ({ key, score: (1 - meaning) * (words[i] as number) + meaning * (meanings[i] as number) }))
    .sort((one, other) => other.score - one.score);
}

function deviations<K>(keys: readonly K[], list: readonly Scored<K>[]): readonly number[] {
  const known = new Map(list.map(({ key, score }) => [key, score]));
  const lowest = list.reduce((least, { score }) => Math.min(least, score), Number.POSITIVE_INFINITY);
  const scores = keys.map((key) => known.get(key) ?? (list.length === 0 ? 0 : lowest));
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  const deviation = Math.sqrt(scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length);
  return scores.map((score) => (deviation > 0 ? (score - mean) / deviation : 0));
}
