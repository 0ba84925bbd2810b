/** The known name that is nearest to a mistyped one. */

/** No name is longer. Comparing two words takes the product of their lengths, and a client may send a word of any length. */
const MOST_LETTERS = 100;

/**
 * The known word closest to what was typed, if it looks like a typing mistake: one letter in short words, two in long ones, or a
 * prefix.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MOST_LETTERS) return undefined;
  const typed = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = typed.length < 6 ? 2 : 3;
  for (const candidate of known) {
    // Each letter more is one slip at least.
    if (Math.abs(candidate.length - typed.length) >= bestDistance) continue;
    const distance = slips(typed, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? completed(typed, known);
}

/** The only known word with this beginning. */
function completed(typed: string, known: readonly string[]): string | undefined {
  const fitting = typed.length < 3 ? [] : known.filter((candidate) => candidate.toLowerCase().startsWith(typed));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Letters added, removed, changed or swapped with the next one. */
function slips(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(changed, (row[j] as number) + 1, (next[j - 1] as number) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (before[j - 2] as number) + 1);
      }
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
