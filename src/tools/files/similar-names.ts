/** Finds the likely name for a file that does not exist. */

const SUGGESTIONS = 3;

/**
 * A name that looks the same but has another encoding: composed or decomposed accents, the special spaces and quotes in names of
 * screenshots. A model cannot see the difference. Undefined if there is none or more than one. Not one that Node cannot name: looking it up
 * would lead here again.
 */
export async function sameSpelling(name: string, names: AsyncIterable<string>): Promise<string | undefined> {
  const wanted = spelling(name);
  let found: string | undefined;
  for await (const each of names) {
    if (each.includes("\ufffd") || spelling(each) !== wanted) continue;
    if (found !== undefined) return undefined;
    found = each;
  }
  return found;
}

function spelling(name: string): string {
  return name
    .normalize("NFC")
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ")
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"');
}

/** Up to three names that look like `name`, the likeliest first. */
export async function similarNames(name: string, names: AsyncIterable<string>): Promise<readonly string[]> {
  const wanted = name.toLowerCase();
  const scored: { name: string; score: number }[] = [];
  for await (const each of names) {
    const score = distance(wanted, each.toLowerCase());
    if (score !== undefined) scored.push({ name: each, score });
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, SUGGESTIONS).map((each) => each.name);
}

/** Lower is nearer; undefined is too far. Same name with another extension and names that contain each other count as near. */
function distance(wanted: string, name: string): number | undefined {
  const stem = withoutExtension(wanted);
  if (stem !== "" && withoutExtension(name) === stem) return 1;
  const edits = editDistance(wanted, name);
  if (edits <= Math.max(1, Math.floor(wanted.length / 4))) return edits;
  const shorter = Math.min(wanted.length, name.length);
  if (shorter >= 4 && (name.includes(wanted) || wanted.includes(name)))
    return 10 + Math.abs(name.length - wanted.length);
  return undefined;
}

function withoutExtension(name: string): string {
  const dot = name.indexOf(".", 1);
  return dot === -1 ? name : name.slice(0, dot);
}

/** Insertions, deletions, replacements and swaps of adjacent letters. */
function editDistance(a: string, b: string): number {
  if (a.length > 255 || b.length > 255) return 255;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min((previous[j] as number) + 1, (row[j - 1] as number) + 1, replaced);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) best = Math.min(best, (beforePrevious[j - 2] as number) + 1);
      row.push(best);
    }
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length] as number;
}
