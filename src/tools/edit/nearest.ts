/** The places of a text that look most like a quotation that is not in it: for the error message. */
export interface Excerpt {
  /** The first line's number, from 1. */
  readonly line: number;
  readonly lines: readonly string[];
}

const MAX_PLACES = 3;
const MAX_SHOWN_LINES = 8;
const MAX_SHOWN_CHARS = 200;
const MAX_QUOTED_LINES = 40;
const MAX_FILE_LINES = 200_000;
const MAX_LINE_CHARS = 2000;
const LEAST_LIKENESS = 0.3;

/** By shared words, line by line. The cost is linear in the file's length. */
function nearest(text: string, quotation: string): readonly Excerpt[] {
  const quoted = quotation
    .split("\n")
    .map(wordsOf)
    .filter((words) => words.size > 0)
    .slice(0, MAX_QUOTED_LINES);
  if (quoted.length === 0) return [];
  const index = new Map<string, number[]>();
  quoted.forEach((words, i) => {
    for (const word of words) index.set(word, [...(index.get(word) ?? []), i]);
  });
  const lines = text.split("\n", MAX_FILE_LINES);
  const likeness = Float64Array.from(lines, (line) => likenessTo(wordsOf(line), quoted, index));
  const span = Math.min(quoted.length, lines.length);
  return bestWindows(likeness, span).map((start) =>
    excerpt(lines, { start, count: Math.max(span, quotation.trim().split("\n").length) }),
  );
}

/** Those places as an error message quotes them; undefined without any. */
export function nearestPlaces(text: string, quotation: string): string | undefined {
  const places = nearest(text, quotation).map(renderExcerpt);
  return places.length === 0 ? undefined : places.join("\n…\n");
}

/** Lines of a text for an error message, shortened if they are many or long. */
export function excerpt(lines: readonly string[], { start, count }: { start: number; count: number }): Excerpt {
  return { line: start + 1, lines: lines.slice(start, start + Math.min(count, MAX_SHOWN_LINES)).map(cut) };
}

/** Numbered as the read tool does it. */
export function renderExcerpt({ line, lines }: Excerpt): string {
  return lines.map((text, i) => `${line + i}\t${text}`).join("\n");
}

function cut(line: string): string {
  return line.length > MAX_SHOWN_CHARS ? `${line.slice(0, MAX_SHOWN_CHARS)}… (${line.length} characters)` : line;
}

function wordsOf(line: string): Set<string> {
  return new Set(line.slice(0, MAX_LINE_CHARS).match(/[\p{L}\p{N}_]+/gu));
}

/** Lines with more than this in common are probably versions of one another. */
export const ALIKE = 0.6;

/** Share of words that two lines have in common (Dice), from 0 to 1. Lines without words are alike when they are equal. */
export function wordLikeness(a: string, b: string): number {
  const words = wordsOf(a);
  const others = wordsOf(b);
  if (words.size + others.size === 0) return a.trim() === b.trim() ? 1 : 0;
  let shared = 0;
  for (const word of words) if (others.has(word)) shared++;
  return (2 * shared) / (words.size + others.size);
}

/** The same for the most similar of many lines. */
function likenessTo(words: Set<string>, quoted: readonly Set<string>[], index: ReadonlyMap<string, number[]>): number {
  const shared = new Map<number, number>();
  for (const word of words) {
    for (const i of index.get(word) ?? []) shared.set(i, (shared.get(i) ?? 0) + 1);
  }
  let best = 0;
  for (const [i, count] of shared) {
    best = Math.max(best, (2 * count) / (words.size + (quoted[i] as Set<string>).size));
  }
  return best < LEAST_LIKENESS ? 0 : best;
}

function bestWindows(likeness: Float64Array, span: number): readonly number[] {
  const found: { start: number; sum: number }[] = [];
  let sum = 0;
  likeness.forEach((value, i) => {
    sum += value - (i >= span ? (likeness[i - span] as number) : 0);
    const start = i - span + 1;
    if (start >= 0 && sum >= Math.max(LEAST_LIKENESS, 0.2 * span)) found.push({ start, sum });
  });
  found.sort((a, b) => b.sum - a.sum || a.start - b.start);
  const best: number[] = [];
  for (const { start } of found.slice(0, 1000)) {
    if (best.length === MAX_PLACES) break;
    if (best.every((other) => Math.abs(other - start) >= span)) best.push(start);
  }
  return best;
}
