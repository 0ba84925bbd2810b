/** One order from several: reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009). It needs no scores that compare. */

const DAMPING = 60;

/** Best first. Each list is, too. */
export function fuseRanks(
  lists: readonly (readonly number[])[],
): readonly { readonly id: number; readonly score: number }[] {
  const scores = new Map<number, number>();
  for (const list of lists) {
    for (const [rank, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (DAMPING + rank + 1));
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((one, other) => other.score - one.score);
}
