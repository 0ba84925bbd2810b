/** A place that a search found, as two lines: where it is, and the words around what was found. */
import { paint } from "../../../base/terminal-style.js";
import { safeLine } from "../../../base/terminal-text.js";
import { ago } from "../../../base/text-table.js";
import type { RecallHit } from "../../../sessions/recall.js";
import type { SearchHit } from "../../../sessions/search.js";
import { snippetOf } from "../../../sessions/snippet.js";

export interface FoundPlace extends Omit<SearchHit, "kind"> {
  readonly kind: string;
  readonly score?: number;
}

export function toSearchHit({ session, title, turn, event, kind, ts, text, words, score }: RecallHit): FoundPlace {
  const place = { session, ...(title !== undefined && { title }), turn, event, kind, ts };
  return { ...place, ...snippetOf(text, words), score: Math.round(score * 1e4) / 1e4 };
}

export function renderHit(hit: FoundPlace, look: { readonly color: boolean }, now: number): string {
  const { session, title, turn, ts, snippet, ranges } = hit;
  const place = turn === 0 ? "title" : `turn ${turn}`;
  const where = `${session}  ${place}  ${ago(now - Date.parse(ts))}  ${safeLine(title ?? "")}`;
  let shown = "";
  let at = 0;
  for (const [from, to] of ranges) {
    shown += safeLine(snippet.slice(at, from)) + paint(look, "bold", safeLine(snippet.slice(from, to)));
    at = to;
  }
  return `${paint(look, "dim", where)}\n    ${shown}${safeLine(snippet.slice(at))}\n`;
}
