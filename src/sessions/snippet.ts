/** The words around what a search found, on one line. */
import { fold, unfoldedRange } from "./search-query.js";

export interface Snippet {
  /** One line. */
  readonly snippet: string;
  /** The place in the snippet where the words stand: from, up to. */
  readonly ranges: readonly (readonly [number, number])[];
}

const BEFORE_MATCH = 50;
const SNIPPET = 160;

/** The words around the first of these stems. */
export function snippetOf(text: string, stems: readonly string[]): Snippet {
  const terms = stems.map((stem) => new RegExp(stem.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "g"));
  const folded = fold(text);
  const first = Math.min(...terms.map((term) => folded.search(term)).filter((at) => at >= 0), folded.length);
  const [at] = first >= folded.length ? [0] : unfoldedRange(text, first, first + 1);
  return snippetAround(text, at, terms);
}

export function snippetAround(text: string, at: number, terms: readonly RegExp[]): Snippet {
  const start = pairStart(text, Math.max(0, at - BEFORE_MATCH));
  const end = pairStart(text, Math.min(text.length, start + SNIPPET));
  const shown = text.slice(start, end).replace(/\s+/g, " ").trim();
  const snippet = `${start > 0 ? "…" : ""}${shown}${end < text.length ? "…" : ""}`;
  const folded = fold(snippet);
  const found = terms.flatMap((term) =>
    [...folded.matchAll(term)].map(({ index, 0: match }) => unfoldedRange(snippet, index, index + match.length)),
  );
  return { snippet, ranges: joined(found) };
}

/** The index, or the one before it when it is in the middle of a surrogate pair. */
function pairStart(text: string, index: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(index)) ? index - 1 : index;
}

/** In order, and those that touch as one. */
function joined(ranges: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const result: [number, number][] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}
