/** Finds tools by words. */
import type { OfferedTool } from "./offered-tools.js";

export interface FoundTool<T> {
  readonly item: T;
  readonly score: number;
}

/** The best first; only those that have something of the query. */
export function searchTools<T extends Pick<OfferedTool, "name" | "description"> & { readonly server: string }>(
  tools: readonly T[],
  query: string,
): readonly T[] {
  const wanted = [...new Set(wordsOf(query))];
  if (wanted.length === 0) return [];
  const scored = tools.map((item): FoundTool<T> => {
    const name = wordsOf(item.name);
    const about = new Set(wordsOf(`${item.description} ${item.server}`));
    let score = item.name.toLowerCase() === query.trim().toLowerCase() ? 100 : 0;
    for (const word of wanted) {
      if (name.includes(word)) score += 6;
      else if (name.some((each) => each.startsWith(word) || word.startsWith(each))) score += 4;
      if (about.has(word)) score += 2;
      else if ([...about].some((each) => each.length > 3 && (each.startsWith(word) || word.startsWith(each))))
        score += 1;
    }
    return { item, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || (one.item.name < other.item.name ? -1 : 1))
    .map(({ item }) => item);
}

function wordsOf(text: string): readonly string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1);
}
