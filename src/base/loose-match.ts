/** Finds names by some of their letters. */

/** A letter at the start of a word. */
const AT_WORD = 10;
const AFTER_ANOTHER = 5;
const PER_GAP = 2;
const PER_POSITION = 0.1;
const WHOLE = 100;
const JOINTS = /[\s\-_./:]/;

/** Tells how well the letters of `query` fit `text` in their order; the lowest is the best. Undefined if a letter is missing. */
export function looseScore(query: string, text: string): number | undefined {
  const typed = query.toLowerCase();
  const name = text.toLowerCase();
  let score = typed === name ? -WHOLE : 0;
  let last = -1;
  let run = 0;
  for (const letter of typed) {
    const at = name.indexOf(letter, last + 1);
    if (at === -1) return undefined;
    run = last !== -1 && at === last + 1 ? run + 1 : 0;
    score -= run * AFTER_ANOTHER;
    if (last !== -1) score += (at - last - 1) * PER_GAP;
    if (at === 0 || JOINTS.test(name[at - 1] as string)) score -= AT_WORD;
    score += at * PER_POSITION;
    last = at + letter.length - 1;
  }
  return score;
}
